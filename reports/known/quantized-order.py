"""The weights of a layer that was quantized once it was built come in another order in the clone.

keras/src/layers/core/dense.py:127 makes the weights that quantization adds before the kernel and the bias, while
quantize makes those of float8 after them (:1101); so do the other layers that can be quantized; the weights of the
one cannot be set on the other.
"""

# /// clonediff
# generation = "keras"
# severity = "crashes"
# until = "3.16.0"
# fingerprint = "weights-weight-order-9646429d"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "weights"
# aspect = "weight order"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(1,))
dense = layers.Dense(1)(inputs)
model = keras.Model(inputs, dense)
model.quantize("float8")

clone = keras.models.clone_model(model)
expected, found = [
    [(each.path, tuple(each.shape), str(each.dtype), each.trainable) for each in it.weights] for it in (model, clone)
]
assert found == expected, f"{found} in the clone, {expected} in the model"
