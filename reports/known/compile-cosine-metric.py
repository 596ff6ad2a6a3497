"""A CosineSimilarity metric has the default axis in the clone.

keras/src/metrics/regression_metrics.py:302 writes a config without axis.
"""

# /// clonediff
# generation = "keras"
# severity = "trains"
# since = "3.9.0"
# until = "3.16.0"
# link = "https://github.com/keras-team/keras/pull/23717"
# fingerprint = "structure-compiled-metrics-cosinesimilarity-axis-model-957ba21b"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "structure"
# aspect = "compiled.*metrics.CosineSimilarity.axis"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(1,))
activation = layers.Activation("relu")(inputs)
model = keras.Model(inputs, activation)
model.compile(metrics=[keras.metrics.CosineSimilarity(axis=1)])

clone = keras.models.clone_model(model)
expected, found = [it._compile_config.config["metrics"][0]._fn_kwargs for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
