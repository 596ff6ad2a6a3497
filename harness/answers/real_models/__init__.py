"""Models that nobody here wrote, each through upstream and fixed with all checks: which there are, and what came of it.

A recipe is data, and becomes a few lines of plain Keras; whatever is built is built in the process of a subject, from
random numbers: nothing is downloaded.
"""
