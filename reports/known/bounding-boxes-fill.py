"""`MaxNumBoundingBoxes.get_config` omits `fill_value`, so the clone pads with the default.

https://github.com/keras-team/keras/blob/v3.15.1/keras/src/layers/preprocessing/image_preprocessing/max_num_bounding_box.py#L114
"""

import keras
from keras import layers

inputs = keras.Input(shape=(4, 4, 2))
outputs = layers.MaxNumBoundingBoxes(max_number=2, fill_value=0, name="boxes")(inputs)
model = keras.Model(inputs, outputs)

clone = keras.models.clone_model(model)
expected, found = [it.get_layer("boxes").fill_value for it in (model, clone)]
assert found == expected, f"`fill_value` is {found} in the clone, {expected} in the model"

# /// clonediff
# generation = "keras"
# root = "class-config"
# verdict = "accept"
# severity = "lost-property"
# loading = true
# since = "3.7.0"
# until = "3.16.0"
# fingerprint = "structure-attribute-fill-value-maxnumboundingboxes-1207a7d1"
# trial.inputs = [{ shape = [4, 4, 2] }]
#
# [[match]]
# check = "structure"
# aspect = "attribute.fill_value"
# kind = "MaxNumBoundingBoxes"
# ///
