"""The parts of the fixed cloner for Keras 2 on TensorFlow 2; its door is `fixed.tf_keras`."""
