"""An operation on images that was given no data_format has that of the session when it is cloned.

keras/src/models/cloning.py:219 makes the operation from its config, which has what its constructor was given and
not what that made of it (keras/src/ops/image.py:260, for Resize), though a layer of Keras tells what it holds.
"""

# /// clonediff
# generation = "keras"
# severity = "computes"
# fingerprint = "structure-output-shape-resize-699f1f55"
# trial.inputs = [{ shape = [4, 4, 3] }]
# [[match]]
# check = "structure"
# aspect = ["output shape", "attribute.data_format"]
# kind = [
#     "Resize", "CropImages", "PadImages", "AffineTransform", "ExtractPatches", "RGBToGrayscale", "RGBToHSV",
#     "HSVToRGB", "PerspectiveTransform", "GaussianBlur", "ElasticTransform", "ScaleAndTranslate",
# ]
#
# [[match]]
# check = "made"
# exception = "ValueError"
# frame = "keras/src/ops/image.py:*"
# ///

import keras
from keras import ops

inputs = keras.Input(shape=(4, 4, 3))
resize = ops.image.resize(inputs, size=(2, 2))
model = keras.Model(inputs, resize)
keras.config.set_image_data_format("channels_first")

clone = keras.models.clone_model(model)
assert clone.output_shape == model.output_shape, f"{clone.output_shape} in the clone, {model.output_shape} in the model"
