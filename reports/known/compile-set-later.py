"""What was set on a model after it was compiled, such as run_eagerly, is in the clone as it was compiled.

keras/src/trainers/trainer.py:991 serializes the arguments of compile.
"""

# /// clonediff
# generation = "keras"
# severity = "trains"
# fingerprint = "structure-compiled-run-eagerly-model-0d6b1c49"
# trial.inputs = [{ shape = [4] }]
# [[match]]
# check = "structure"
# aspect = ["compiled.run_eagerly", "attribute.loss"]
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(4,))
model = keras.Model(inputs, layers.Dense(4)(inputs))
model.compile(loss="mse")
model.run_eagerly = True

clone = keras.models.clone_model(model)
assert clone.run_eagerly == model.run_eagerly, "the clone does not run eagerly"
