"""A lookup that was adapted knows no word in the clone.

keras/src/layers/preprocessing/index_lookup.py:398, and text_vectorization.py:487, write the vocabulary that the
constructor was given, and no weight holds the one that adapt found: the table of the clone is empty, and looking a
word up in it raises.
"""

# /// clonediff
# generation = "keras"
# severity = "crashes"
# fingerprint = "structure-attribute-vocabulary-9e063072"
# trial.inputs = [{ shape = [3], dtype = "int32", fill = "ids", high = 6 }]
# [[match]]
# check = "structure"
# aspect = "attribute.vocabulary"
#
# [[match]]
# check = "structure"
# aspect = "config.vocabulary_size"
# kind = "TextVectorization"
# ///

import keras
import numpy as np
from keras import layers

inputs = keras.Input(shape=(3,), dtype="int32")
integer_lookup_layer = layers.IntegerLookup()
integer_lookup = integer_lookup_layer(inputs)
model = keras.Model(inputs, integer_lookup)
integer_lookup_layer.adapt(np.array([1, 2, 4]))

clone = keras.models.clone_model(model)
expected, found = [it.get_layer("integer_lookup").get_vocabulary() for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
