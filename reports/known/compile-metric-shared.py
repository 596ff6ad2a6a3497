"""A metric that a model is compiled with for two outputs is two metrics in the clone.

keras/src/trainers/trainer.py:991 serializes the arguments of compile in no ObjectSharingScope, without which
keras/src/saving/serialization_lib.py:285 records no object as shared.
"""

# /// clonediff
# generation = "keras"
# severity = "trains"
# fingerprint = "sharing-unshared-compile-config-config-model-c40785dc"
# trial.inputs = [{ shape = [4] }]
# [[match]]
# check = "sharing"
# aspect = "*_compile_config*"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(4,))
first, second = layers.Dense(4)(inputs), layers.Dense(4)(inputs)
model = keras.Model(inputs, [first, second])
metric = keras.metrics.MeanSquaredError()
model.compile(loss=["mse", "mse"], metrics=[[metric], [metric]])

clone = keras.models.clone_model(model)
metrics = clone._compile_config.config["metrics"]
assert metrics[0][0] is metrics[1][0], "the clone has two metrics"
