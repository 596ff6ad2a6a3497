"""The history of a bug: release by release, does it break?"""
