"""Proposed fixes of `clone_model`.

`proposals` reads a function, a file, a diff, or a text with one in it. `edits` puts it into a private copy of the
release. `judging` runs the known scripts, their models and drawn ones with and without it, and says what it mends and
what it breaks; `keras_tests` does so for Keras' own tests. `text` writes the answer for the terminal and for a pull
request.
"""
