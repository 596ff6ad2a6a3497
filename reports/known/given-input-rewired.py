"""A Sequential takes the input that it is given away from where it came from.

keras/src/models/cloning.py:317 puts a new InputLayer around the tensor, whose node becomes the tensor's history
(keras/src/layers/core/input_layer.py:119), so that a model that began with it is cut off, the original among them.
"""

# /// clonediff
# generation = "keras"
# severity = "computes"
# fingerprint = "untouched-original-input-tensor-inputlayer-24c7cd8d"
# trial.inputs = [{ shape = [1] }]
# trial.keeps_inputs = true
# [[match]]
# check = "untouched"
# aspect = ["input tensor", "call.*"]
# given = "input_tensors"
# ///

import keras
from keras import layers

model = keras.Sequential([keras.Input(shape=(1,)), layers.Activation("relu")])

before = [id(each._keras_history[0]) for each in model.inputs]

clone = keras.models.clone_model(model, input_tensors=model.inputs)

assert [id(each._keras_history[0]) for each in model.inputs] == before
