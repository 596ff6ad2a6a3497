"""The clone of a compiled model is not compiled.

tf_keras/src/models/cloning.py:540 makes the layers and the calls of the model again, and compiles nothing, so `fit` of
the clone raises.
"""

# /// clonediff
# generation = "tf_keras"
# severity = "trains"
# link = "https://github.com/keras-team/keras/issues/20884"
# [[match]]
# check = "structure"
# aspect = "compiled"
# ///

import tf_keras as keras
from tf_keras import layers

inputs = keras.Input(shape=(1,))
dense = layers.Dense(1)(inputs)
model = keras.Model(inputs, dense)
model.compile(loss="mse")

clone = keras.models.clone_model(model)
assert clone._is_compiled, "the clone is not compiled, the model is"
