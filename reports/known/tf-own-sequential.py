"""`clone_model` turns a `Sequential` subclass into a plain `Sequential`, so its `train_step` is lost.

Subclasses of `Model` keep their methods.
https://github.com/keras-team/tf-keras/blob/v2.21.0/tf_keras/src/models/cloning.py#L399
"""

import numpy as np
import tf_keras as keras
from tf_keras import layers


@keras.saving.register_keras_serializable()
class OwnTraining(keras.Sequential):
    def train_step(self, data):
        return {"steps": 1.0}


model = OwnTraining([keras.Input(shape=(1,)), layers.Dense(1)])

clone = keras.models.clone_model(model)
x = np.ones((2, 1), dtype="float32")
for it in (model, clone):
    it.compile(loss="mse")
expected, found = [list(it.fit(x, x, verbose=0).history) for it in (model, clone)]
assert found == expected, f"`fit` reports {found} in the clone, {expected} in the model"

# /// clonediff
# generation = "tf_keras"
# root = "rebuilt"
# verdict = "accept"
# severity = "wrong-training"
# fingerprint = "structure-kind-owntraining-e68096b8"
# trial.inputs = [{ shape = [1] }]
#
# [[match]]
# check = "structure"
# aspect = "kind"
# found = "Sequential"
# ///
