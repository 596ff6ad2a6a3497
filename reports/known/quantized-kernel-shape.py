"""A quantized EinsumDense keeps the shape of its kernel as another type in the clone.

keras/src/layers/core/einsum_dense.py:837, and :600 and :712, keep the shape as it comes: a clone is built with the
list of :187, where quantize hands on that of the kernel (:1337).
"""

# /// clonediff
# generation = "keras"
# severity = "property"
# until = "3.16.0"
# fingerprint = "structure-attribute-original-kernel-shape-einsumdense-e36939f5"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "structure"
# aspect = "attribute.original_kernel_shape"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(1,))
einsum_dense = layers.EinsumDense(equation="ab,by->ay", output_shape=(1,))(inputs)
model = keras.Model(inputs, einsum_dense)
model.quantize("int4")

clone = keras.models.clone_model(model)
expected, found = [type(it.get_layer("einsum_dense").original_kernel_shape).__name__ for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
