"""A Huber loss has the default delta in the clone.

keras/src/losses/losses.py:353 writes a config without delta.
"""

# /// clonediff
# generation = "keras"
# severity = "trains"
# since = "3.9.0"
# until = "3.16.0"
# link = "https://github.com/keras-team/keras/pull/23286"
# fingerprint = "structure-compiled-loss-huber-delta-model-bc937156"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "structure"
# aspect = "compiled.loss.Huber.delta"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(1,))
activation = layers.Activation("relu")(inputs)
model = keras.Model(inputs, activation)
model.compile(loss=keras.losses.Huber(delta=2.0))

clone = keras.models.clone_model(model)
expected, found = [it._compile_config.config["loss"]._fn_kwargs for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
