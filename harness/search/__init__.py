"""The search for graphs that fail, and how they are made smaller.

`hunt` draws the graphs of a seed and tries each. `reduce` cuts a program as long as it fails in the same way.
`functional_graphs` draws the same graphs within a test of your own, through a process of its own.
"""
