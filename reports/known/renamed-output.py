"""The outputs of a model go by the new name of a layer in the clone, which was renamed after the model was made.

keras/src/models/functional.py:148 takes the names of the outputs from the layers as a model is made, and the
metrics of a compiled model go by them (keras/src/trainers/trainer.py:188); the model that clone_model makes
(keras/src/models/cloning.py:407) is a later one.
"""

# /// clonediff
# generation = "keras"
# severity = "property"
# fingerprint = "structure-attribute-metrics-output-names-functional-85fb3e98"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "structure"
# aspect = "attribute.metrics.output_names"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(1,))
activation_layer = layers.Activation("relu")
activation = activation_layer(inputs)
model = keras.Model(inputs, activation)
activation_layer.name = "renamed"
model.compile(weighted_metrics=["mse"])

clone = keras.models.clone_model(model)
expected, found = [it.metrics[1].output_names[0] for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
