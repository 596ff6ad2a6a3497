"""The data_format of a SpatialDropout is lost in the clone.

tf_keras/src/layers/regularization/dropout.py:129 writes the config of these layers, too, which have no get_config
of their own, and knows of no data_format.
"""

# /// clonediff
# generation = "tf_keras"
# severity = "property"
# fingerprint = "structure-attribute-data-format-spatialdropout2d-628e63d6"
# trial.inputs = [{ shape = [2, 2, 2] }]
# [[match]]
# check = "structure"
# aspect = "attribute.data_format"
# kind = "SpatialDropout*D"
# ///

import tf_keras as keras
from tf_keras import layers

inputs = keras.Input(shape=(2, 2, 2))
spatial_dropout_2d = layers.SpatialDropout2D(0.5, data_format="channels_first")(inputs)
model = keras.Model(inputs, spatial_dropout_2d)

clone = keras.models.clone_model(model)
expected, found = [it.get_layer("spatial_dropout2d").data_format for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
