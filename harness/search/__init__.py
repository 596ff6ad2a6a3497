"""Searches for graphs that fail, and reduces them.

`search` draws graphs from a seed and tries each. `reduce` makes a program smaller while it fails in the same way.
`functional_graphs` is a Hypothesis strategy that draws graphs in a user's tests.
"""
