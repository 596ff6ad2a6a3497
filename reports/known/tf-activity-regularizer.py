"""`Layer.get_config` omits `activity_regularizer`, so the clone trains without the penalty.

Every layer accepts it; only layers that save it themselves, such as `Dense`, keep it.
https://github.com/keras-team/tf-keras/blob/v2.21.0/tf_keras/src/engine/base_layer.py#L802
https://github.com/keras-team/tf-keras/blob/v2.21.0/tf_keras/src/engine/base_layer.py#L373
"""

import numpy as np
import tf_keras as keras
from tf_keras import layers

inputs = keras.Input(shape=(1,))
outputs = layers.Activation("relu", activity_regularizer="l2")(inputs)
model = keras.Model(inputs, outputs)

clone = keras.models.clone_model(model)
x = np.array([[2.0]], dtype="float32")
model(x), clone(x)
expected, found = [[float(loss) for loss in it.losses] for it in (model, clone)]
assert found == expected, f"`losses` is {found} in the clone, {expected} in the model"

# /// clonediff
# generation = "tf_keras"
# root = "class-config"
# verdict = "accept"
# severity = "wrong-training"
# loading = true
# fingerprint = "structure-config-activity-regularizer-c5031e2d"
# trial.inputs = [{ shape = [1] }]
#
# [[match]]
# check = "structure"
# aspect = "config.activity_regularizer"
#
# [[match]]
# check = "made"
# kind = "Identity"
# exception = "NotImplementedError"
# frame = "tf_keras/src/engine/base_layer.py:get_config"
# ///
