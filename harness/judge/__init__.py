"""Proposed fixes of `clone_model`, and changes of Keras.

`proposals` reads a file, and `edits` applies it to a private copy of the release. `judging` finds what it fixes and its
regressions, by known scripts, their models and drawn ones, and `keras_tests` by Keras' own tests. `verdict_text` is the
output.
"""
