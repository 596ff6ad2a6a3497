"""`clone_model` clones nested models separately, so a layer shared with the outer model is duplicated.

https://github.com/keras-team/tf-keras/blob/v2.21.0/tf_keras/src/models/cloning.py#L52
"""

import tf_keras as keras
from tf_keras import layers

inputs = keras.Input(shape=(4,))
inner_inputs = keras.Input(shape=(4,))
dense = layers.Dense(2)
inner = keras.Model(inner_inputs, dense(inner_inputs))
model = keras.Model(inputs, layers.Add()([dense(inputs), inner(inputs)]))

clone = keras.models.clone_model(model)
expected, found = [len(it.weights) for it in (model, clone)]
assert found == expected, f"{found} weights in the clone, {expected} in the model"

# /// clonediff
# generation = "tf_keras"
# workaround = "use `clonediff.clone_model`: a nested clone of Keras cannot share the layer"
# root = "sharing"
# verdict = "accept"
# severity = "crash"
# loading = true
# link = "https://github.com/keras-team/keras/issues/20172"
# fingerprint = "sharing-layer-unshared-80dfe98f"
# trial.inputs = [{ shape = [4] }]
#
# [[match]]
# check = "sharing"
# aspect = "layer unshared"
# inside = ["", "Functional", "Sequential"]
# ///
