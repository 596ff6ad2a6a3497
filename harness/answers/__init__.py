"""Answer questions about one finding, graph, known issue, model or class.

`targets` finds what an argument of the command line names. `replay` retries it, and `repro` runs its script.
`check` and `in_process` compare a user's model with its clone. `audit` finds constructor arguments that a config loses.
"""
