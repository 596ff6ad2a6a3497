"""Cloners that keep the promise, one for each generation of Keras."""
