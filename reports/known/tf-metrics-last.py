"""The layers of a model that was given a metric come in another order in the clone.

tf_keras/src/models/cloning.py:63 puts the layers of metrics after all others that no output needs.
"""

# /// clonediff
# generation = "tf_keras"
# severity = "property"
# fingerprint = "structure-layer-order-model-71eca0de"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "structure"
# aspect = "layer order"
# ///

import tensorflow as tf
import tf_keras as keras
from tf_keras import layers

inputs = keras.Input(shape=(1,))
activation = layers.Activation("relu")(inputs)
model = keras.Model(inputs, activation)
model.add_metric(tf.reduce_mean(model.outputs[0]), name="mean")
model.add_loss(tf.reduce_mean(model.outputs[0]))

clone = keras.models.clone_model(model)
assert clone.get_config() == model.get_config()
