"""The score_mode of an AdditiveAttention is lost in the clone.

keras/src/layers/attention/additive_attention.py:101 takes it out of the config that Attention writes.
"""

# /// clonediff
# generation = "keras"
# severity = "property"
# fingerprint = "structure-attribute-score-mode-additiveattention-95dae5f4"
# trial.inputs = [{ shape = [1, 1] }, { shape = [1, 1] }]
# [[match]]
# check = "structure"
# aspect = "attribute.score_mode"
# kind = "AdditiveAttention"
# ///

import keras
from keras import layers

input_1 = keras.Input(shape=(1, 1))
input_2 = keras.Input(shape=(1, 1))
additive_attention = layers.AdditiveAttention(score_mode="concat")([input_1, input_2])
model = keras.Model([input_1, input_2], additive_attention)

clone = keras.models.clone_model(model)
expected, found = [it.get_layer("additive_attention").score_mode for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
