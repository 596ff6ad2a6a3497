"""`activations.deserialize` looks up an unregistered function by name, so a built-in silently replaces it.

The config holds only the name of the function. A registered function is kept.
https://github.com/keras-team/tf-keras/blob/v2.21.0/tf_keras/src/models/cloning.py#L52
https://github.com/keras-team/tf-keras/blob/v2.21.0/tf_keras/src/activations.py#L639
"""

import numpy as np
import tf_keras as keras
from tf_keras import layers


def relu(x):
    return x * 2.0


inputs = keras.Input(shape=(1,))
outputs = layers.Dense(1, activation=relu, kernel_initializer="ones")(inputs)
model = keras.Model(inputs, outputs)

clone = keras.models.clone_model(model)
x = np.array([[-1.0]], dtype="float32")
expected, found = float(model(x)[0, 0]), float(clone(x)[0, 0])
assert found == expected, f"-1.0 becomes {found} in the clone, {expected} in the model"

# /// clonediff
# generation = "tf_keras"
# root = "file-format"
# verdict = "accept"
# severity = "wrong-output"
# loading = true
# fingerprint = "structure-attribute-activation-dense-9660de22"
# trial.inputs = [{ shape = [1] }]
#
# [[match]]
# check = "structure"
# aspect = "attribute.*activation"
# found = "function *"
# given = "a function of the same name"
# ///
