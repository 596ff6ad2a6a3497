"""An AlphaDropout loses its noise_shape in the clone.

tf_keras/src/layers/regularization/alpha_dropout.py:98 writes a config without noise_shape.
"""

# /// clonediff
# generation = "tf_keras"
# severity = "property"
# fingerprint = "structure-attribute-noise-shape-alphadropout-9649d1b3"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "structure"
# aspect = "attribute.noise_shape"
# kind = "AlphaDropout"
# ///

import tf_keras as keras
from tf_keras import layers

inputs = keras.Input(shape=(1,))
alpha_dropout = layers.AlphaDropout(0.5, noise_shape=[None, 1])(inputs)
model = keras.Model(inputs, alpha_dropout)

clone = keras.models.clone_model(model)
expected, found = [type(it.get_layer("alpha_dropout").noise_shape).__name__ for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
