"""`Layer.get_config` omits `trainable` of sublayers, so they train and `set_weights` swaps kernels.

The config of a custom layer holds the flag of the layer, not the flags of its sublayers. The clone trains the frozen
weights and lists its weights in a different order: `set_weights` silently assigns kernels of the same shape to the
wrong layers. The flag of a layer created from a config does not reach sublayers that are created later, either.
https://github.com/keras-team/tf-keras/blob/v2.21.0/tf_keras/src/engine/base_layer.py#L348
https://github.com/keras-team/tf-keras/blob/v2.21.0/tf_keras/src/engine/base_layer.py#L1283
"""

import numpy as np
import tf_keras as keras
from tf_keras import layers


@keras.saving.register_keras_serializable()
class Block(layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.first = layers.Dense(1, "relu", kernel_initializer="ones", name="first")
        self.second = layers.Dense(1, kernel_initializer="zeros", name="second")

    def call(self, x):
        return self.first(x) - self.second(x)


inputs = keras.Input(shape=(1,))
block = Block()
model = keras.Model(inputs, block(inputs))
block.first.trainable = False

clone = keras.models.clone_model(model)
clone.set_weights(model.get_weights())
x = np.array([[1.0]], dtype="float32")
expected, found = float(model(x)[0, 0]), float(clone(x)[0, 0])
assert found == expected, f"1.0 becomes {found} in the clone, {expected} in the model"

# /// clonediff
# generation = "tf_keras"
# root = "settings"
# verdict = "accept"
# severity = "wrong-output"
# loading = true
# fingerprint = "structure-trainable-in-block-029c539b"
# trial.inputs = [{ shape = [1] }]
#
# [[match]]
# check = "structure"
# aspect = "trainable"
# found = "true"
# given = "inside a custom layer"
#
# [[match]]
# check = "structure"
# aspect = "trainable"
# kind = "EinsumDense"
# inside = "MultiHeadAttention"
# found = "true"
#
# [[match]]
# check = "structure"
# aspect = "trainable"
# kind = "ConvLSTM*Cell"
# inside = "ConvLSTM?D"
# found = "true"
#
# [[match]]
# check = "structure"
# aspect = "trainable"
# kind = "StringLookup"
# inside = "TextVectorization"
# found = "true"
#
# [[match]]
# check = "structure"
# aspect = "trainable"
# inside = "Bidirectional"
#
# [[match]]
# check = "weights"
# aspect = "weight order"
# given = "inside a custom layer"
# ///
