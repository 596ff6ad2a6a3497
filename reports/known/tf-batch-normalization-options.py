"""`BatchNormalization.get_config` omits `synchronized`, so the clone uses per-replica statistics.

It omits `fused`, too: the clone of a layer with `fused=False` is fused if it can be, and its `moving_variance` is
updated with the variance times N/(N-1), for N values per channel.
https://github.com/keras-team/tf-keras/blob/v2.21.0/tf_keras/src/layers/normalization/batch_normalization.py#L810
"""

import tf_keras as keras
from tf_keras import layers

inputs = keras.Input(shape=(2,))
outputs = layers.BatchNormalization(synchronized=True, name="norm")(inputs)
model = keras.Model(inputs, outputs)

clone = keras.models.clone_model(model)
expected, found = [it.get_layer("norm").synchronized for it in (model, clone)]
assert found == expected, f"`synchronized` is {found} in the clone, {expected} in the model"

# /// clonediff
# generation = "tf_keras"
# root = "class-config"
# verdict = "accept"
# severity = "wrong-training"
# loading = true
# fingerprint = "structure-attribute-synchronized-batchnormalization-b1476000"
# trial.inputs = [{ shape = [2] }]
#
# [[match]]
# check = "structure"
# aspect = ["attribute.fused", "attribute.synchronized"]
# kind = "*BatchNormalization"
# ///
