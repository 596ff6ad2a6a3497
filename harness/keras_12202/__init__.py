"""Reproduces keras#12202: Keras 2.2.4 cannot clone a `Lambda` with two outputs and no mask."""

RELEASE = "keras==2.2.4"
