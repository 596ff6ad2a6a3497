"""A registered custom layer inside a wrapper cannot be cloned.

tf_keras/src/layers/rnn/base_wrapper.py:86 looks for `module` in the wrapper's config, where it never is, and so
reads the layer in the old format, which knows no registered names.
"""

# /// clonediff
# generation = "tf_keras"
# severity = "crashes"
# raises = "ValueError"
# fingerprint = "made-raises-valueerror-79ef9d9f"
# trial.inputs = [{ shape = [3, 4] }]
# [[match]]
# check = "made"
# found = "*Unknown layer*"
# exception = "ValueError"
# frame = [
#     "*/saving/legacy/serialization.py:class_and_config_for_serialized_keras_object",
#     "tensorflow*/python/keras/utils/generic_utils.py:class_and_config_for_serialized_keras_object",
# ]
# ///

import tf_keras as keras
from tf_keras import layers


@keras.saving.register_keras_serializable()
class Scale(layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    def build(self, input_shape):
        self.scale = self.add_weight(name="scale", shape=(input_shape[-1],), initializer="uniform")
        self.built = True

    def call(self, x):
        return x * self.scale

    def compute_output_shape(self, input_shape):
        return input_shape


inputs = keras.Input(shape=(3, 4))
time_distributed = layers.TimeDistributed(Scale())(inputs)
model = keras.Model(inputs, time_distributed)

clone = keras.models.clone_model(model)
