"""`TextVectorization.get_config` writes the function of `split` as it is, so cloning raises

https://github.com/keras-team/keras/blob/v3.15.1/keras/src/layers/preprocessing/text_vectorization.py#L480
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/layers/preprocessing/text_vectorization.py#L504
"""

import keras
from keras import layers


def by_letter(texts):
    return texts


inputs = keras.Input(shape=(1,), dtype="string")
outputs = layers.TextVectorization(split=by_letter, vocabulary=["a", "b"])(inputs)
model = keras.Model(inputs, outputs)

clone = keras.models.clone_model(model)

# /// clonediff
# generation = "keras"
# root = "class-config"
# verdict = "accept"
# severity = "crashes"
# loading = true
# raises = "TypeError"
# link = "https://github.com/keras-team/tf-keras/issues/716"
# fingerprint = "made-raises-typeerror-cdc5bb83"
# trial.inputs = [{ shape = [1], dtype = "string" }]
#
# [[match]]
# check = "made"
# found = "*Could not parse config:*"
# exception = "TypeError"
# frame = "keras/src/layers/preprocessing/text_vectorization.py:from_config"
# ///
