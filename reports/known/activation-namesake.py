"""An activation with the name of one of Keras' is that one in the clone, also one of keras.ops with other
defaults.

keras/src/activations/__init__.py:102 writes no more than the name of a function, where keras.activations has one of
that name.
"""

# /// clonediff
# generation = "keras"
# severity = "computes"
# until = "3.16.0"
# fingerprint = "structure-attribute-activation-dense-9660de22"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "structure"
# aspect = "attribute.*activation"
# found = "function *"
# given = "a function of the same name"
# ///

import keras
from keras import layers
from keras import ops

inputs = keras.Input(shape=(1,))
dense = layers.Dense(1, activation=ops.gelu)(inputs)
model = keras.Model(inputs, dense)

clone = keras.models.clone_model(model)
expected, found = [it.get_layer("dense").activation.__code__ for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
