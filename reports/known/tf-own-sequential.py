"""A Sequential of a class of one's own is a plain Sequential in the clone.

tf_keras/src/models/cloning.py:399, and :413 and :429 on other inputs, make a Sequential, whatever class the model
is of.
"""

# /// clonediff
# generation = "tf_keras"
# severity = "property"
# fingerprint = "structure-kind-ownsequential-b761390d"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "structure"
# aspect = "kind"
# found = "Sequential"
# ///

import tf_keras as keras
from tf_keras import layers


class OwnSequential(keras.Sequential):
    def count(self):
        return len(self.layers)


model = OwnSequential([keras.Input(shape=(1,)), layers.Activation("relu")])

clone = keras.models.clone_model(model)
expected, found = [type(it).__name__ for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
