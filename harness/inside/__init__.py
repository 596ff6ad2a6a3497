"""Trials in the process that runs Keras: build, clone and observe models.

That is a child process of clonediff, or the user's process.
"""
