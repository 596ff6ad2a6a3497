"""A layer, such as a PReLU or a Dense, that was called on an input of a definite size first cannot be cloned
where the clone calls it on another first.

keras/src/layers/activations/prelu.py:55 makes its weight of the sizes that the layer is built for, as does
keras/src/layers/core/dense.py:125, and a layer is built by its first call; that of the clone is one on an input
whose sizes are open, where clone_model (keras/src/models/cloning.py:219) makes the layer anew and repeats the calls
of the model alone, by their depth (keras/src/ops/function.py:192).
"""

# /// clonediff
# generation = "keras"
# severity = "crashes"
# raises = "ValueError"
# fingerprint = "made-raises-in-a-call-valueerror-d78609e1"
# trial.inputs = [{ shape = [-1] }, { shape = [1] }]
# [[match]]
# check = "made"
# exception = "ValueError"
# frame = "keras/src/backend/common/variables.py:_validate_shape"
# given = "* called more than once"
# [[match]]
# check = "made"
# exception = "ValueError"
# frame = "keras/src/ops/numpy.py:matmul"
# given = "* called more than once"
# ///

import keras
from keras import layers

input_1 = keras.Input(shape=(None,))
input_2 = keras.Input(shape=(1,))
pre_lu_layer = layers.PReLU()
pre_lu = pre_lu_layer(input_2)
pre_lu_2 = pre_lu_layer(input_1)
model = keras.Model([input_1, input_2], pre_lu_2)

clone = keras.models.clone_model(model)
