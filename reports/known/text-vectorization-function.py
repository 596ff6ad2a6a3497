"""`TextVectorization.get_config` does not serialize a callable `split` or `standardize`, so cloning raises.

`from_config` tries to deserialize the function itself, and raises even if it is registered. With a registered function,
loading and nested cloning work, because they serialize the config.
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/layers/preprocessing/text_vectorization.py#L480
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/layers/preprocessing/text_vectorization.py#L504
"""

import keras
from keras import layers


@keras.saving.register_keras_serializable()
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
# severity = "crash"
# raises = "TypeError"
# link = "https://github.com/keras-team/tf-keras/issues/716"
# fingerprint = "made-raises-typeerror-cdc5bb83"
# workaround = "use `clonediff.clone_model`: Keras rejects registered functions, too"
# trial.inputs = [{ shape = [1], dtype = "string" }]
#
# [[match]]
# check = "made"
# found = "*Could not parse config:*"
# exception = "TypeError"
# frame = "keras/src/layers/preprocessing/text_vectorization.py:from_config"
# ///
