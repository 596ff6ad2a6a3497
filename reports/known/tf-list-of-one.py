"""`clone_model` unwraps a list of one tensor, so cloning `Concatenate()([x])` raises.

https://github.com/keras-team/tf-keras/blob/v2.21.0/tf_keras/src/engine/functional.py#L1462
"""

import tf_keras as keras
from tf_keras import layers

inputs = keras.Input(shape=(4,))
branches = [layers.Dense(2)(inputs)]
outputs = layers.Concatenate()(branches)
model = keras.Model(inputs, outputs)

clone = keras.models.clone_model(model)

# /// clonediff
# generation = "tf_keras"
# root = "operations"
# verdict = "accept"
# severity = "crash"
# loading = true
# raises = "ValueError"
# link = "https://github.com/keras-team/keras/issues/17700"
# fingerprint = "made-raises-in-a-call-valueerror-489a0ca1"
# trial.inputs = [{ shape = [4] }]
#
# [[match]]
# check = "structure"
# aspect = "call.args type"
# path = "layers?*?.calls[*].args[0]"
# found = "{\"tensor\"*"
#
# [[match]]
# check = "made"
# exception = ["ValueError", "IndexError", "TypeError"]
# given = "a list of one tensor"
# ///
