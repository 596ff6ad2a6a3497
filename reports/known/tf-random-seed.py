"""The seed of an attention or a recurrent layer is lost in the clone.

tf_keras/src/engine/base_layer.py:3935 writes a config without the seed that the constructor takes (:3900), and an
attention or a recurrent layer adds none to it.
"""

# /// clonediff
# generation = "tf_keras"
# severity = "computes"
# since = "2.7.0"
# fingerprint = "weights-state-missing-additiveattention-8fbb06a5"
# trial.inputs = [{ shape = [1, 1] }, { shape = [1, 1] }]
# [[match]]
# check = "weights"
# aspect = "state missing"
# kind = ["*Attention", "*LSTM*", "GRU*", "SimpleRNNCell"]
# found = "nothing"
# ///

import tf_keras as keras
from tf_keras import layers

input_1 = keras.Input(shape=(1, 1))
input_2 = keras.Input(shape=(1, 1))
additive_attention = layers.AdditiveAttention(seed=1)([input_1, input_2])
model = keras.Model([input_1, input_2], additive_attention)

clone = keras.models.clone_model(model)
expected, found = (it.layers[2]._random_generator._seed for it in (model, clone))
assert found == expected, f"the seed is {found} in the clone, {expected} in the model"
