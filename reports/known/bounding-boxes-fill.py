"""A MaxNumBoundingBoxes loses its fill_value in the clone.

keras/src/layers/preprocessing/image_preprocessing/max_num_bounding_box.py:114 writes max_number only.
"""

# /// clonediff
# generation = "keras"
# severity = "property"
# until = "3.16.0"
# fingerprint = "structure-attribute-fill-value-maxnumboundingboxes-1207a7d1"
# trial.inputs = [{ shape = [4, 4, 2] }]
# [[match]]
# check = "structure"
# aspect = "attribute.fill_value"
# kind = "MaxNumBoundingBoxes"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(4, 4, 2))
max_num_bounding_boxes = layers.MaxNumBoundingBoxes(max_number=2, fill_value=0)(inputs)
model = keras.Model(inputs, max_num_bounding_boxes)

clone = keras.models.clone_model(model)
expected, found = [it.get_layer("max_num_bounding_boxes").fill_value for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
