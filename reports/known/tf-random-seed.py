"""`Attention.get_config` and `LSTM.get_config` omit `seed`, so the clone drops different units in training.

`BaseRandomLayer` accepts a seed and does not save it; nor do `AdditiveAttention`, `GRU` and `SimpleRNN`.
https://github.com/keras-team/tf-keras/blob/v2.21.0/tf_keras/src/engine/base_layer.py#L3935
"""

import numpy as np
import tensorflow as tf
import tf_keras as keras
from tf_keras import layers

inputs = keras.Input(shape=(8, 1))
outputs = layers.Attention(dropout=0.5, seed=1)([inputs, inputs])
model = keras.Model(inputs, outputs)

clone = keras.models.clone_model(model)
expected, found = [], []
for it, values in ((model, expected), (clone, found)):
    tf.random.set_seed(0)
    values += it(np.ones((1, 8, 1), dtype="float32"), training=True).numpy().ravel().tolist()
assert found == expected, f"seeded alike, the clone computes {found}, the model {expected}"

# /// clonediff
# generation = "tf_keras"
# root = "class-config"
# verdict = "minor"
# severity = "wrong-output"
# loading = true
# since = "2.7.0"
# fingerprint = "weights-state-missing-attention-682202d9"
# trial.inputs = [{ shape = [8, 1] }]
#
# [[match]]
# check = "weights"
# aspect = "state missing"
# kind = ["*Attention", "*LSTM*", "GRU*", "SimpleRNNCell"]
# found = "nothing"
# ///
