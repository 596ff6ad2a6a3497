"""A layer keeps its numbers in floats of the session's floatx when it is cloned.

tf_keras/src/layers/activation/relu.py:98 to :101, and elu.py:57, leaky_relu.py:69 and thresholded_relu.py:64 beside
it, cast numbers to the floats of the session, of which a config tells nothing.
"""

# /// clonediff
# generation = "tf_keras"
# severity = "property"
# fingerprint = "structure-attribute-theta-thresholdedrelu-b09a2ecb"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "structure"
# aspect = [
#     "attribute.theta", "attribute.alpha", "attribute.negative_slope", "attribute.max_value",
#     "attribute.threshold", "attribute.mean", "attribute.variance",
# ]
# expected = "array of (), float32*"
# found = ["array of (), float16*", "array of (), float64*"]
#
# [[match]]
# check = "structure"
# aspect = [
#     "attribute.theta", "attribute.alpha", "attribute.negative_slope", "attribute.max_value",
#     "attribute.threshold", "attribute.mean", "attribute.variance",
# ]
# expected = ["array of (), float16*", "array of (), float64*"]
# found = "array of (), float32*"
#
# [[match]]
# check = "structure"
# aspect = "config.*"
# expected = "array(float32*"
# found = ["array(float16*", "array(float64*"]
#
# [[match]]
# check = "structure"
# aspect = "config.*"
# expected = ["array(float16*", "array(float64*"]
# found = "array(float32*"
# ///

import tf_keras as keras
from tf_keras import layers

keras.backend.set_floatx("float64")
inputs = keras.Input(shape=(1,))
thresholded_re_lu = layers.ThresholdedReLU()(inputs)
model = keras.Model(inputs, thresholded_re_lu)
keras.backend.set_floatx("float32")

clone = keras.models.clone_model(model)
expected, found = (it.layers[1].theta.dtype for it in (model, clone))
assert found == expected, f"theta is a {found} in the clone, a {expected} in the model"
