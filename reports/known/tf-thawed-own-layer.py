"""A layer of one's own that was made frozen and is trainable now is frozen in the clone.

tf_keras/src/engine/base_layer.py:818 writes what the constructor was given over what the layer is now, where a
class has no get_config of its own.
"""

# /// clonediff
# generation = "tf_keras"
# severity = "trains"
# fingerprint = "structure-trainable-ab564334"
# trial.inputs = [{ shape = [4] }]
# [[match]]
# check = "structure"
# aspect = "trainable"
# path = "layers*"
# found = "false"
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


inputs = keras.Input(shape=(4,))
scale = Scale(trainable=False)(inputs)
model = keras.Model(inputs, scale)
model.trainable = True

clone = keras.models.clone_model(model)
expected, found = [it.get_layer("scale").trainable for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
