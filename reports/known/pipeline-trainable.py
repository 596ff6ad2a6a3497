"""A frozen Pipeline is not frozen in the clone.

keras/src/layers/preprocessing/pipeline.py:85 writes a config of its layers and its name, without trainable; its
layers keep their own flags, so that training differs only where one of them was thawed by itself.
"""

# /// clonediff
# generation = "keras"
# severity = "property"
# fingerprint = "structure-trainable-ab564334"
# trial.inputs = [{ shape = [4, 4, 2] }]
# [[match]]
# check = "structure"
# aspect = "trainable"
# kind = "Pipeline"
# found = "true"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(4, 4, 2))
pipeline_layer = layers.Pipeline(layers=[layers.Dense(2)])
pipeline_layer.trainable = False
pipeline = pipeline_layer(inputs)
model = keras.Model(inputs, pipeline)

clone = keras.models.clone_model(model)
expected, found = [it.get_layer("pipeline").trainable for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
