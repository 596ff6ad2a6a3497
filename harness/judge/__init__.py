"""Proposed fixes of `clone_model`, and changes of Keras.

`proposals` reads a file, and `edits` puts it into a private copy of the release. `judging` says what it mends and makes
worse, by known scripts, their models and drawn ones, and `keras_tests` by Keras' own tests. `text` is what is printed.
"""
