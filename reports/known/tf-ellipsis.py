"""A model with a slice that has an Ellipsis cannot be cloned inside a Sequential that is inside a model.

tf_keras/src/models/cloning.py:52 asks the Sequential for its config, and
tf_keras/src/saving/serialization_lib.py:394 refuses the Ellipsis in the config of the model in it.
"""

# /// clonediff
# generation = "tf_keras"
# severity = "crashes"
# raises = "TypeError"
# fingerprint = "made-raises-typeerror-f647d310"
# trial.inputs = [{ shape = [3, 1] }]
# [[match]]
# check = "made"
# found = "*Ellipsis*"
# exception = "TypeError"
# frame = "*keras/src/saving/serialization_lib.py:_get_class_or_fn_config"
# ///

import tf_keras as keras

inputs = keras.Input(shape=(3, 1))
inner_inputs = keras.Input(shape=(3, 1))
narrow = inner_inputs[..., :1]
inner_model_2 = keras.Model(inner_inputs, narrow)
inner_model = keras.Sequential([keras.Input(shape=(3, 1)), inner_model_2])
sequential = inner_model(inputs)
model = keras.Model(inputs, sequential)

clone = keras.models.clone_model(model)
