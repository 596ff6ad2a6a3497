"""`AlphaDropout.get_config` omits `noise_shape`, so the clone drops different units in training.

https://github.com/keras-team/tf-keras/blob/v2.21.0/tf_keras/src/layers/regularization/alpha_dropout.py#L98
"""

import numpy as np
import tf_keras as keras
from tf_keras import layers

inputs = keras.Input(shape=(64,), batch_size=2)
outputs = layers.AlphaDropout(0.5, noise_shape=[2, 1])(inputs)
model = keras.Model(inputs, outputs)

clone = keras.models.clone_model(model)
x = np.ones((2, 64), dtype="float32")
expected, found = [len(np.unique(it(x, training=True)[0])) for it in (model, clone)]
assert found == expected, f"a row has {found} different values in the clone, {expected} in the model"

# /// clonediff
# generation = "tf_keras"
# root = "class-config"
# verdict = "accept"
# severity = "wrong-training"
# loading = true
# fingerprint = "structure-attribute-noise-shape-alphadropout-9649d1b3"
# trial.inputs = [{ shape = [64] }]
#
# [[match]]
# check = "structure"
# aspect = "attribute.noise_shape"
# kind = "AlphaDropout"
# ///
