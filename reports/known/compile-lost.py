"""The clone of a compiled model is not compiled.

in 3.5.0, keras/src/models/cloning.py:398 makes the model again and compiles nothing, which a release does since
3.9.0.
"""

# /// clonediff
# generation = "keras"
# severity = "computes"
# until = "3.9.0"
# link = "https://github.com/keras-team/keras/issues/20888"
# fingerprint = "structure-compiled-functional-62a36e74"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "structure"
# aspect = "compiled"
# ///

# keras 3.8.0, tensorflow 2.21.0, numpy 2.4.6, python 3.11.7

import keras
from keras import layers

inputs = keras.Input(shape=(1,))
activation = layers.Activation("relu")(inputs)
model = keras.Model(inputs, activation)
model.compile()

clone = keras.models.clone_model(model)
expected, found = [it.compiled for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
