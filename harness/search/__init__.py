"""Looking for news on one subject: which graphs show something unknown, the smallest that do, and the proof of it.

Campaigns, judging and the property tests are made of it.
"""
