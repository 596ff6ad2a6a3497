"""`metrics.CosineSimilarity.get_config` omits `axis`, so the clone computes the metric along the last axis.

https://github.com/keras-team/keras/blob/v3.15.1/keras/src/metrics/regression_metrics.py#L302
"""

import keras
import numpy as np
from keras import layers

inputs = keras.Input(shape=(2, 2))
outputs = layers.Activation("relu")(inputs)
model = keras.Model(inputs, outputs)
model.compile(loss="mse", metrics=[keras.metrics.CosineSimilarity(axis=1)])

clone = keras.models.clone_model(model)
x = np.array([[[1.0, 2.0], [0.0, 2.0]]], dtype="float32")
expected, found = [it.evaluate(x, np.ones_like(x), verbose=0, return_dict=True) for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"

# /// clonediff
# generation = "keras"
# root = "class-config"
# verdict = "accept"
# severity = "wrong-training"
# loading = true
# since = "3.9.0"
# until = "3.16.0"
# link = "https://github.com/keras-team/keras/pull/23717"
# fingerprint = "structure-compiled-metrics-cosinesimilarity-axis-model-957ba21b"
# trial.inputs = [{ shape = [2, 2] }]
#
# [[match]]
# check = "structure"
# aspect = "compiled.*metrics.CosineSimilarity.axis"
# ///
