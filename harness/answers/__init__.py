"""Answers about one finding, graph, known issue, model or class.

`targets` reads the arguments of the command line. `replay` tries them again, and `repro` prints their scripts. `check`
and `in_process` compare a user's model with its clone. `audit` finds arguments that a config loses.
"""
