"""What is drawn for a subject: the kinds that it has, and the calls that its Keras accepts."""
