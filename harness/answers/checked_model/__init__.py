"""A model of somebody's own under the checks: brought as a file, a function or the name of one that comes with Keras.

Nothing is drawn here. What is loaded is loaded in the subject's process.
"""
