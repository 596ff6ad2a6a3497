"""`TextVectorization.get_config` does not serialize a callable `split` or `standardize`, so cloning raises.

`from_config` tries to deserialize the function itself, and raises even if it is registered. With a registered function,
loading and nested cloning work, because they serialize the config.
https://github.com/keras-team/tf-keras/blob/v2.21.0/tf_keras/src/layers/preprocessing/text_vectorization.py#L504
https://github.com/keras-team/tf-keras/blob/v2.21.0/tf_keras/src/layers/preprocessing/text_vectorization.py#L534
"""

import tf_keras as keras
from tf_keras import layers


@keras.saving.register_keras_serializable()
def by_letter(texts):
    return texts


inputs = keras.Input(shape=(1,), dtype="string")
outputs = layers.TextVectorization(split=by_letter, vocabulary=["a", "b"])(inputs)
model = keras.Model(inputs, outputs)

clone = keras.models.clone_model(model)

# /// clonediff
# generation = "tf_keras"
# root = "class-config"
# verdict = "accept"
# severity = "crash"
# raises = "TypeError"
# link = "https://github.com/keras-team/tf-keras/issues/716"
# fingerprint = "made-raises-typeerror-6430f9e3"
# workaround = "use `clonediff.clone_model`: Keras rejects registered functions, too"
# trial.inputs = [{ shape = [1], dtype = "string" }]
#
# [[match]]
# check = "made"
# found = "*Could not parse config:*"
# exception = "TypeError"
# frame = "tf_keras/src/layers/preprocessing/text_vectorization.py:from_config"
# ///
