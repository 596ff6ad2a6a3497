"""`Dense.quantized_build` adds float8 weights before the kernel, so `set_weights` raises.

`quantize` adds them after the kernel and the bias. Other layers that can be quantized do the same.
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/layers/core/dense.py#L127
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/layers/core/dense.py#L1101
"""

import keras
from keras import layers

inputs = keras.Input(shape=(1,))
outputs = layers.Dense(1)(inputs)
model = keras.Model(inputs, outputs)
model.quantize("float8")

clone = keras.models.clone_model(model)
clone.set_weights(model.get_weights())

# /// clonediff
# generation = "keras"
# root = "order"
# verdict = "accept"
# severity = "crash"
# loading = true
# raises = "ValueError"
# until = "3.16.0"
# fingerprint = "weights-weight-order-9646429d"
# trial.inputs = [{ shape = [1] }]
#
# [[match]]
# check = "weights"
# aspect = "weight order"
# ///
