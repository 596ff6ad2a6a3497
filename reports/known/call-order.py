"""The calls of a shared layer come in another order in the clone, so layer.output is that of another call.

keras/src/models/cloning.py:407 makes the calls anew through keras/src/ops/function.py:192, which goes by depth in
the graph, not by the order in which the calls were made.
"""

# /// clonediff
# generation = "keras"
# severity = "property"
# since = "3.3.3"
# fingerprint = "structure-call-order-49466e96"
# trial.inputs = [{ shape = [3, 4] }]
# [[match]]
# check = "structure"
# aspect = "call order"
#
# [[match]]
# check = "weights"
# aspect = "weight shape"
# given = "* called more than once"
#
# [[match]]
# check = "structure"
# aspect = "output shape"
# given = "* called more than once"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(3, 4))
gaussian_dropout_layer = layers.GaussianDropout(0.5)
gaussian_dropout = gaussian_dropout_layer(inputs)
gaussian_dropout_2 = gaussian_dropout_layer(inputs)
model = keras.Model(inputs, [gaussian_dropout, gaussian_dropout_2])

clone = keras.models.clone_model(model)

import json


def config(model):
    # Inputs without a name of their own have another one in the clone: that is no part of this.
    text = json.dumps(model.get_config(), sort_keys=True, default=str)
    for number, each in enumerate(model.inputs):
        text = text.replace(f'"{each._keras_history.operation.name}"', f'"input {number}"')
    return text


assert config(clone) == config(model)
