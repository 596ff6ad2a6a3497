"""An activation with the name of one of Keras' is that one in the clone.

tf_keras/src/models/cloning.py:52 makes the layer from its config, which has a function by its name, and
tf_keras/src/activations.py:639 finds Keras' own.
"""

# /// clonediff
# generation = "tf_keras"
# severity = "computes"
# fingerprint = "structure-attribute-activation-dense-9660de22"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "structure"
# aspect = "attribute.*activation"
# found = "function *"
# given = "a function of the same name"
# ///

import tf_keras as keras
from tf_keras import layers


def relu(x):
    return x * 2.0


inputs = keras.Input(shape=(1,))
dense = layers.Dense(1, activation=relu)(inputs)
model = keras.Model(inputs, dense)

clone = keras.models.clone_model(model)
expected, found = [it.get_layer("dense").activation.__code__ for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
