"""Tests of what runs beside Keras."""
