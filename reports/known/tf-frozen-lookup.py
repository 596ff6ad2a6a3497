"""The StringLookup inside a TextVectorization that was frozen once it was made is not frozen in the clone.

tf_keras/src/layers/preprocessing/text_vectorization.py:385 makes it without the layer's trainable, which the
clone's constructor is given before it is there; it has no weights to train, so that training is the same.
"""

# /// clonediff
# generation = "tf_keras"
# severity = "property"
# fingerprint = "structure-trainable-in-textvectorization-f68e3590"
# trial.inputs = [{ shape = [1], dtype = "string", fill = "words" }]
# [[match]]
# check = "structure"
# aspect = "trainable"
# kind = "StringLookup"
# inside = "TextVectorization"
# found = "true"
# ///

import tf_keras as keras
from tf_keras import layers

inputs = keras.Input(shape=(1,), dtype="string")
text_vectorization_layer = layers.TextVectorization(vocabulary=["red", "green", "a"], output_sequence_length=3)
text_vectorization_layer.trainable = False
text_vectorization = text_vectorization_layer(inputs)
model = keras.Model(inputs, text_vectorization)

clone = keras.models.clone_model(model)
assert not clone.layers[1]._lookup_layer.trainable, "the lookup is frozen in the model, and not in the clone"
