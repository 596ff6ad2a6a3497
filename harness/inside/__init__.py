"""What runs beside Keras: build a model from source, clone it, observe it, answer.

Owns everything that happens in the process of the Keras under test, be it a child of ours or a user's own.
"""
