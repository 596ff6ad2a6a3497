"""A weight that was given no name has another one in the clone.

keras/src/backend/common/variables.py:107 names such a weight by the next number that is free, as that of the
LayerScale at keras/src/applications/convnext.py:200, and no config tells which it was.
"""

# /// clonediff
# generation = "keras"
# severity = "name"
# fingerprint = "weights-weight-name-f7622a71"
# trial.inputs = [{ shape = [4] }]
# [[match]]
# check = "weights"
# aspect = "weight name"
# ///

import keras
from keras import layers


@keras.saving.register_keras_serializable()
class Offset(layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    def build(self, input_shape):
        self.offset = self.add_weight(shape=(input_shape[-1],), initializer="uniform")
        self.built = True

    def call(self, x):
        return x + self.offset

    def compute_output_shape(self, input_shape):
        return input_shape


inputs = keras.Input(shape=(4,))
offset = Offset()(inputs)
model = keras.Model(inputs, offset)

clone = keras.models.clone_model(model)
expected, found = [
    [(each.path, tuple(each.shape), str(each.dtype), each.trainable) for each in it.weights] for it in (model, clone)
]
assert found == expected, f"{found} in the clone, {expected} in the model"
