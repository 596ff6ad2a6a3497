"""Proposed fixes of `clone_model`.

`proposals` reads a function, a file, a diff, or a text with one in it. `judging` puts it in the place of the release's
`clone_model`, runs the known scripts and drawn models with and without it, and says what it mends and what it breaks.
`text` writes the answer for the terminal and for a pull request.
"""
