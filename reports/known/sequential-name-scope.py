"""What draws seeds in a Sequential has the name of the Sequential in its path in the clone, or has lost it there
where the model was loaded.

in 3.16.0.dev2026102704, keras/src/models/sequential.py:381 makes the layers of a config in the name scope of the
model, and a seed is in the scope in which its layer is made: that of nobody where a user makes it, or where
clone_model does so for the layers of a loaded model (keras/src/models/cloning.py:219).
"""

# /// clonediff
# generation = "keras"
# severity = "name"
# since = "3.16.0"
# fingerprint = "weights-state-scope-2ae19844"
# trial.inputs = [{ shape = [1, 1] }]
# [[match]]
# check = "weights"
# aspect = "state scope"
# found = "*/seed_generator*/*"
#
# [[match]]
# check = "weights"
# aspect = "state scope"
# expected = "*/seed_generator*/*"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(1, 1))
inner_model = keras.Sequential([keras.Input(shape=(1, 1)), layers.Masking(), layers.SimpleRNN(1)])
sequential = inner_model(inputs)
model = keras.Model(inputs, sequential)

clone = keras.models.clone_model(model)
expected, found = ([variable.path.count("/") for variable in it.non_trainable_variables] for it in (model, clone))
assert found == expected, f"{found} names above a seed in the clone, {expected} in the model"
