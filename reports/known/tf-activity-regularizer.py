"""activity_regularizer is lost in the clone of each layer that does not write it itself.

tf_keras/src/engine/base_layer.py:802 writes a config without activity_regularizer, which :373 accepts for any
layer; and an EinsumDense takes one (tf_keras/src/layers/core/einsum_dense.py:127) and hands it to nobody.
"""

# /// clonediff
# generation = "tf_keras"
# severity = "trains"
# fingerprint = "structure-config-activity-regularizer-c5031e2d"
# trial.inputs = [{ shape = [3, 4] }]
# [[match]]
# check = "structure"
# aspect = "config.activity_regularizer"
# ///

import tf_keras as keras
from tf_keras import layers

inputs = keras.Input(shape=(3, 4))
masking = layers.Masking(activity_regularizer="l2")(inputs)
model = keras.Model(inputs, masking)

clone = keras.models.clone_model(model)
expected, found = [type(it.get_layer("masking").activity_regularizer) for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
