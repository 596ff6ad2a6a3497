"""`SpatialDropout2D` does not save `data_format`, so the clone drops along the wrong axis.

It inherits the `get_config` of `Dropout`.
https://github.com/keras-team/tf-keras/blob/v2.21.0/tf_keras/src/layers/regularization/dropout.py#L129
"""

import numpy as np
import tf_keras as keras
from tf_keras import layers

inputs = keras.Input(shape=(2, 8, 8))
outputs = layers.SpatialDropout2D(0.5, data_format="channels_first")(inputs)
model = keras.Model(inputs, outputs)

clone = keras.models.clone_model(model)
x = np.ones((1, 2, 8, 8), dtype="float32")
expected, found = [len(np.unique(it(x, training=True)[0, 0])) for it in (model, clone)]
assert found == expected, f"one channel has {found} different values in the clone, {expected} in the model"

# /// clonediff
# generation = "tf_keras"
# root = "class-config"
# verdict = "accept"
# severity = "wrong-training"
# loading = true
# fingerprint = "structure-attribute-data-format-spatialdropout2d-628e63d6"
# trial.inputs = [{ shape = [2, 8, 8] }]
#
# [[match]]
# check = "structure"
# aspect = "attribute.data_format"
# kind = "SpatialDropout*D"
# ///
