"""What the fixed cloners of `keras2` and `tf_keras` share: the Keras before Keras 3, whichever package it comes in."""
