"""Proposed fixes of `clone_model`, and changes to Keras.

`proposals` reads a file, and `edits` applies it to a private copy of the release. `judging` finds what the copy fixes
and its regressions, by the scripts and models of known issues and by drawn models; `keras_tests` finds regressions by
Keras' own tests. `verdict_text` writes the output.
"""
