"""`Layer.get_config` prefers constructor arguments to current values, so unfrozen custom layers are frozen in clones.

https://github.com/keras-team/tf-keras/blob/v2.21.0/tf_keras/src/engine/base_layer.py#L818
"""

import tf_keras as keras
from tf_keras import layers


@keras.saving.register_keras_serializable()
class Scale(layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)

    def build(self, input_shape):
        self.scale = self.add_weight(name="scale", shape=(input_shape[-1],))

    def call(self, x):
        return x * self.scale


inputs = keras.Input(shape=(4,))
outputs = Scale(trainable=False)(inputs)
model = keras.Model(inputs, outputs)
model.trainable = True

clone = keras.models.clone_model(model)
expected, found = len(model.trainable_weights), len(clone.trainable_weights)
assert found == expected, f"{found} trainable weights in the clone, {expected} in the model"

# /// clonediff
# generation = "tf_keras"
# root = "settings"
# verdict = "accept"
# severity = "wrong-training"
# loading = true
# fingerprint = "structure-trainable-ab564334"
# trial.inputs = [{ shape = [4] }]
#
# [[match]]
# check = "structure"
# aspect = "trainable"
# path = "layers*"
# found = "false"
# ///
