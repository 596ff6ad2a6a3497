"""Trials in the process that runs Keras: build, clone and observe models.

The process is a worker of clonediff, or the user's own.
"""
