"""`MultiHeadAttention(trainable=False)`: sublayers created in `build()` are trainable in the clone.

The constructor sets the flag of the layer alone, so sublayers created later do not get it; the `trainable` setter,
which froze the original, passes it to the sublayers. The same holds for every layer that creates others: custom ones,
`RandomColorJitter`, `TextVectorization`.
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/layers/attention/multi_head_attention.py#L294
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/layers/layer.py#L312
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/layers/layer.py#L644
"""

import keras
from keras import layers

inputs = keras.Input(shape=(3, 4))
attention = layers.MultiHeadAttention(num_heads=2, key_dim=2)
model = keras.Model(inputs, attention(inputs, inputs))
attention.trainable = False

clone = keras.models.clone_model(model)
expected, found = len(model.trainable_weights), len(clone.trainable_weights)
assert found == expected, f"{found} trainable weights in the clone, {expected} in the model"

# /// clonediff
# generation = "keras"
# root = "settings"
# verdict = "accept"
# severity = "wrong-training"
# loading = true
# fingerprint = "structure-trainable-in-multiheadattention-165d8d5f"
# trial.inputs = [{ shape = [3, 4] }]
#
# [[match]]
# check = "structure"
# aspect = "trainable"
# kind = "EinsumDense"
# inside = "*Attention"
# found = "true"
#
# [[match]]
# check = "structure"
# aspect = "trainable"
# found = "true"
# given = "inside a custom layer"
#
# [[match]]
# check = "structure"
# aspect = "trainable"
# inside = "RandomColorJitter"
# found = "true"
#
# [[match]]
# check = "structure"
# aspect = "trainable"
# kind = "StringLookup"
# inside = "TextVectorization"
# found = "true"
#
# [[match]]
# check = "structure"
# aspect = "attribute.losses" # a regularizer that rejects a bias, which trains in the clone
# kind = "EinsumDense"
# found = "raises ValueError"
# ///
