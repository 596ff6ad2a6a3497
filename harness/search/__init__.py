"""Looking for new hits on one subject: the graphs that show something unknown, the smallest that do, and the proof.

Campaigns, judging and the property tests are made of it.
"""
