"""A variable among the loss weights of a compiled model is a tensor in the clone, which no longer changes.

keras/src/saving/serialization_lib.py:219 writes a variable as a tensor.
"""

# /// clonediff
# generation = "keras"
# severity = "trains"
# fingerprint = "structure-compiled-loss-weights-model-31007d4e"
# trial.inputs = [{ shape = [4] }]
# [[match]]
# check = "structure"
# aspect = "compiled.loss_weights"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(4,))
first, second = layers.Dense(4)(inputs), layers.Dense(4)(inputs)
model = keras.Model(inputs, [first, second])
model.compile(loss=["mse", "mse"], loss_weights=[keras.Variable(0.5), keras.Variable(0.25)])

clone = keras.models.clone_model(model)
expected, found = [isinstance(it._compile_config.config["loss_weights"][0], keras.Variable) for it in (model, clone)]
assert found == expected, "a weight of a loss is no variable in the clone"
