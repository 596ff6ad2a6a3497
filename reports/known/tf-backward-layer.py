"""The backward layer of a Bidirectional is cloned as it was when the Bidirectional was made.

tf_keras/src/layers/rnn/bidirectional.py:153 writes the config of the layer down in the constructor, and :509 gives
that as the config, whatever the layer holds by then.
"""

# /// clonediff
# generation = "tf_keras"
# severity = "trains"
# fingerprint = "structure-config-kernel-constraint-lstm-7c624667"
# trial.inputs = [{ shape = [3, 4], fill = "steps" }]
# [[match]]
# check = "structure"
# aspect = "config.*"
# inside = "Bidirectional"
# path = "layers?'*/backward*"
# ///

import tensorflow as tf
import tf_keras as keras
from tf_keras import layers


@keras.saving.register_keras_serializable()
class Halved(keras.constraints.Constraint):
    def __init__(self, by):
        self.by = by

    def __call__(self, w):
        return tf.abs(w) / self.by

    def get_config(self):
        return {"by": self.by}


constraint = Halved(2.0)
inputs = keras.Input(shape=(3, 4))
backward_layer = layers.LSTM(2, go_backwards=True, kernel_constraint=constraint)
bidirectional = layers.Bidirectional(layers.LSTM(2), backward_layer=backward_layer)(inputs)
model = keras.Model(inputs, bidirectional)
constraint.by = 3.0

clone = keras.models.clone_model(model)
expected, found = [
    next(
        each for each in it.get_layer("bidirectional")._flatten_layers(include_self=False) if "backward" in each.name
    ).kernel_constraint.by
    for it in (model, clone)
]
assert found == expected, f"{found} in the clone, {expected} in the model"
