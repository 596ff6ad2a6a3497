"""A regularizer has its factors in floats of the session's floatx when it is cloned.

tf_keras/src/regularizers.py:318, and :243, :284 and :360, cast a factor to floatx, where
tf_keras/src/models/cloning.py:52 makes the layer from its config, which tells a number.
"""

# /// clonediff
# generation = "tf_keras"
# severity = "property"
# fingerprint = "structure-attribute-kernel-regularizer-l2-dense-f56847aa"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "structure"
# aspect = "attribute.*regularizer.*"
#
# [[match]]
# check = "structure"
# aspect = [
#     "config.kernel_regularizer", "config.bias_regularizer", "config.recurrent_regularizer",
#     "config.embeddings_regularizer", "config.beta_regularizer", "config.gamma_regularizer",
#     "config.depthwise_regularizer", "config.pointwise_regularizer", "config.alpha_regularizer",
# ]
# found = "{*"
# ///

import tf_keras as keras
from tf_keras import layers

inputs = keras.Input(shape=(1,))
dense = layers.Dense(1, kernel_regularizer="l2")(inputs)
model = keras.Model(inputs, dense)
keras.backend.set_floatx("float64")

clone = keras.models.clone_model(model)
expected, found = (it.layers[1].kernel_regularizer.l2.dtype for it in (model, clone))
assert found == expected, f"the factor is a {found} in the clone, a {expected} in the model"
