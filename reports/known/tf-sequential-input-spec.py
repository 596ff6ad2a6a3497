"""`clone_model` fixes the input shape of a deferred `Sequential`, so the clone rejects other shapes.

The clone starts with the `InputLayer` that the first call created, which implies an `input_spec`.
https://github.com/keras-team/tf-keras/blob/v2.21.0/tf_keras/src/engine/sequential.py#L498
https://github.com/keras-team/tf-keras/blob/v2.21.0/tf_keras/src/models/cloning.py#L389
"""

import numpy as np
import tf_keras as keras
from tf_keras import layers

model = keras.Sequential([layers.Conv2D(2, 3)])
model.build((None, 32, 32, 3))

clone = keras.models.clone_model(model)
x = np.zeros((1, 64, 64, 3), dtype="float32")
model(x)
clone(x)

# /// clonediff
# generation = "tf_keras"
# root = "rebuilt"
# verdict = "accept"
# severity = "crash"
# loading = true
# raises = "ValueError"
# fingerprint = "structure-attribute-input-spec-model-192acff8"
# trial.inputs = [{ shape = [32, 32, 3] }]
#
# [[match]]
# check = "structure"
# aspect = "attribute.input_spec"
# found = "list of *"
# ///
