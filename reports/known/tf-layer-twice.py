"""`clone_model` lists a repeated `Sequential` layer once, so the clone skips its second call.

`Sequential.layers` leaves out duplicates, so `get_config` and `from_config`, and thus loading, lose the call, too. The
weights fit, so there is no warning.
https://github.com/keras-team/tf-keras/blob/v2.21.0/tf_keras/src/models/cloning.py#L382
https://github.com/keras-team/tf-keras/blob/v2.21.0/tf_keras/src/engine/base_layer.py#L3443
"""

import numpy as np
import tf_keras as keras
from tf_keras import layers

double = layers.Dense(1, kernel_initializer=keras.initializers.Constant(2.0))
model = keras.Sequential([keras.Input(shape=(1,)), double, double])

clone = keras.models.clone_model(model)
clone.set_weights(model.get_weights())
x = np.array([[1.0]], dtype="float32")
expected, found = float(model(x)[0, 0]), float(clone(x)[0, 0])
assert found == expected, f"1.0 becomes {found} in the clone, {expected} in the model"

# /// clonediff
# generation = "tf_keras"
# root = "order"
# verdict = "accept"
# severity = "wrong-output"
# loading = true
# fingerprint = "structure-call-count-ac09962e"
# trial.inputs = [{ shape = [1] }]
#
# [[match]]
# check = "structure"
# aspect = "call count"
# found = "1 calls"
#
# [[match]]
# check = "structure"
# aspect = "config.batch_input_shape"
# kind = "InputLayer"
# given = "* called more than once"
# ///
