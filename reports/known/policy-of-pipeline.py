"""A Pipeline has the dtype policy of the time when it is cloned.

keras/src/layers/preprocessing/pipeline.py:85 writes a config without a dtype.
"""

# /// clonediff
# generation = "keras"
# severity = "property"
# fingerprint = "structure-attribute-dtype-policy-47af40c3"
# trial.inputs = [{ shape = [2, 2, 1] }]
# [[match]]
# check = "structure"
# aspect = ["attribute.compute_dtype", "attribute.dtype*"]
# kind = "Pipeline"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(2, 2, 1))
pipeline = layers.Pipeline(layers=[layers.Rescaling(scale=2.0)])(inputs)
model = keras.Model(inputs, pipeline)
keras.config.set_dtype_policy("mixed_bfloat16")

clone = keras.models.clone_model(model)
expected, found = [it.get_layer("pipeline").compute_dtype for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
