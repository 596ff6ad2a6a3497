"""`IntegerLookup.adapt`: the vocabulary is in neither weights nor config, so calling the clone raises.

`get_config` returns the vocabulary passed to the constructor, and `get_weights` returns none: after `set_weights` the
table of the clone is still empty, and a lookup raises "Table not initialized". Calling `set_vocabulary` on the clone
helps. `load_model` restores the vocabulary from the assets in the file.
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/layers/preprocessing/index_lookup.py#L398
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/layers/preprocessing/text_vectorization.py#L487
"""

import keras
import numpy as np
from keras import layers

inputs = keras.Input(shape=(3,), dtype="int32")
lookup = layers.IntegerLookup()
model = keras.Model(inputs, lookup(inputs))
lookup.adapt(np.array([1, 2, 4]))

clone = keras.models.clone_model(model)
clone.set_weights(model.get_weights())
clone(np.array([[1, 2, 4]], dtype="int32"))

# /// clonediff
# generation = "keras"
# workaround = "call `set_vocabulary` of the clone's layer with `get_vocabulary()` of the model's"
# root = "state"
# verdict = "minor"
# severity = "crash"
# raises = "FailedPreconditionError"
# backends = ["tensorflow"]
# fingerprint = "structure-attribute-vocabulary-9e063072"
# trial.inputs = [{ shape = [3], dtype = "int32", fill = "ids", high = 6 }]
#
# [[match]]
# check = "structure"
# aspect = "attribute.vocabulary"
#
# [[match]]
# check = "structure"
# aspect = "config.vocabulary_size"
# kind = "TextVectorization"
# ///
