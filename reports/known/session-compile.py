"""A compiled model counts in floats of the session's floatx when it is cloned.

keras/src/models/cloning.py:424, and :339 for a Sequential, compile the clone, for which a metric
(keras/src/metrics/metric.py:94) and a learning rate (keras/src/optimizers/base_optimizer.py:188) take their dtype
from the session.
"""

# /// clonediff
# generation = "keras"
# severity = "computes"
# since = "3.9.0"
# fingerprint = "weights-state-dtype-functional-62d71bb3"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "structure"
# aspect = "attribute.metrics.dtype"
#
# [[match]]
# check = "structure"
# aspect = "compiled.optimizer*"
# expected = "*.????????????*"
#
# [[match]]
# check = "structure"
# aspect = "compiled.optimizer*"
# found = "*.????????????*"
#
# [[match]]
# check = "weights"
# aspect = "state dtype"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(1,))
activation = layers.Activation("relu")(inputs)
model = keras.Model(inputs, activation)
model.compile(loss="mse")
keras.config.set_floatx("float64")

clone = keras.models.clone_model(model)
expected, found = [it.metrics[0].dtype for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
