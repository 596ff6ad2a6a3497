"""Tests of code in the process that runs Keras."""
