"""`Layer.build_from_config` builds outside the name scope, so saving the clone as HDF5 raises.

The weights of a custom layer in a nested model lose the name of the layer: two such layers have weights of the same
name, and `save_weights` raises "name already exists".
https://github.com/keras-team/tf-keras/blob/v2.21.0/tf_keras/src/saving/serialization_lib.py#L730
https://github.com/keras-team/tf-keras/blob/v2.21.0/tf_keras/src/engine/base_layer.py#L2386
"""

import os
import tempfile

import tf_keras as keras
from tf_keras import layers


@keras.saving.register_keras_serializable()
class Scale(layers.Layer):
    def build(self, input_shape):
        self.scale = self.add_weight(name="scale", shape=(input_shape[-1],))
        self.built = True

    def call(self, x):
        return x * self.scale


x = keras.Input(shape=(4,))
inner = keras.Model(x, Scale()(Scale()(x)))
inputs = keras.Input(shape=(4,))
model = keras.Model(inputs, inner(inputs))

clone = keras.models.clone_model(model)
with tempfile.TemporaryDirectory() as folder:
    model.save_weights(os.path.join(folder, "model.h5"))
    clone.save_weights(os.path.join(folder, "clone.h5"))

# /// clonediff
# generation = "tf_keras"
# root = "names"
# verdict = "accept"
# severity = "crash"
# loading = true
# raises = "ValueError"
# since = "2.13.0"
# fingerprint = "weights-weight-scope-202963d4"
# trial.inputs = [{ shape = [4] }]
#
# [[match]]
# check = "weights"
# aspect = "weight scope"
# path = "weights*.name"
# inside = "?*"
# ///
