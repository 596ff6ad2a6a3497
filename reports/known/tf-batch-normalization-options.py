"""Whether a BatchNormalization is fused, or synchronized, is lost in the clone.

tf_keras/src/layers/normalization/batch_normalization.py:810 writes a config without either.
"""

# /// clonediff
# generation = "tf_keras"
# severity = "trains"
# fingerprint = "structure-attribute-fused-batchnormalization-fa499c21"
# trial.inputs = [{ shape = [1, 1, 1] }]
# [[match]]
# check = "structure"
# aspect = ["attribute.fused", "attribute.synchronized"]
# kind = "*BatchNormalization"
# ///

import tf_keras as keras
from tf_keras import layers

inputs = keras.Input(shape=(1, 1, 1))
batch_normalization = layers.BatchNormalization(fused=False)(inputs)
model = keras.Model(inputs, batch_normalization)

clone = keras.models.clone_model(model)
expected, found = [it.get_layer("batch_normalization").fused for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
