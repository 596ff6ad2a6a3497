"""`Wrapper.from_config` uses the legacy format, so a registered custom layer raises "Unknown layer".

It looks for `module` in the config of the wrapper, where it never is, and the legacy format does not look up registered
names. A `custom_object_scope` helps.
https://github.com/keras-team/tf-keras/blob/v2.21.0/tf_keras/src/layers/rnn/base_wrapper.py#L86
"""

import tf_keras as keras
from tf_keras import layers


@keras.saving.register_keras_serializable()
class Double(layers.Layer):
    def call(self, x):
        return x * 2.0


inputs = keras.Input(shape=(3, 4))
outputs = layers.TimeDistributed(Double())(inputs)
model = keras.Model(inputs, outputs)

clone = keras.models.clone_model(model)

# /// clonediff
# generation = "tf_keras"
# root = "file-format"
# verdict = "accept"
# severity = "crash"
# loading = true
# raises = "ValueError"
# fingerprint = "made-raises-valueerror-79ef9d9f"
# trial.inputs = [{ shape = [3, 4] }]
#
# [[match]]
# check = "made"
# found = "*Unknown layer*"
# exception = "ValueError"
# frame = [
#     "*/saving/legacy/serialization.py:class_and_config_for_serialized_keras_object",
#     "tensorflow*/python/keras/utils/generic_utils.py:class_and_config_for_serialized_keras_object",
# ]
# ///
