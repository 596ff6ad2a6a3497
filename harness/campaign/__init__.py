"""Many trials: which graphs are tried, what is news, what is kept. Must not import Keras."""
