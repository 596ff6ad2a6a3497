"""Looking for new findings on one subject: which graphs show something unknown, and the smallest that do.

Campaigns, judging and the property tests are made of it.
"""
