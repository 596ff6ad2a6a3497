"""A recurrent layer and its cell have a dtype policy of a class of one's own each in the clone.

keras/src/layers/rnn/lstm.py:692, as gru.py:710 and simple_rnn.py:449 there, give the constructor the config of a
policy, which the layer and its cell read one after the other.
"""

# /// clonediff
# generation = "keras"
# severity = "property"
# [[match]]
# check = "made"
# found = "*pop from empty list*"
# exception = "IndexError"
# frame = "keras/src/dtype_policies/dtype_policy.py:from_config"
# ///

import keras
from keras import layers


@keras.saving.register_keras_serializable()
class Precise(keras.DTypePolicy):
    def __init__(self, by, **kwargs):
        super().__init__(**kwargs)
        self.by = by

    def get_config(self):
        return {**super().get_config(), "by": self.by}


inputs = keras.Input(shape=(1, 1))
lstm = layers.LSTM(1, dtype=Precise([2.0]))(inputs)
model = keras.Model(inputs, lstm)

clone = keras.models.clone_model(model)
lstm = clone.layers[1]
assert lstm.cell.dtype_policy is lstm.dtype_policy, (
    "the LSTM and its cell share a policy in the model, not in the clone"
)
