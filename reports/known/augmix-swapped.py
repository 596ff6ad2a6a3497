"""`AugMix.get_config` swaps `num_chains` and `chain_depth`, so the clone augments differently.

https://github.com/keras-team/keras/blob/v3.13.2/keras/src/layers/preprocessing/image_preprocessing/aug_mix.py#L319
"""

import keras
from keras import layers

inputs = keras.Input(shape=(1, 1, 3))
outputs = layers.AugMix(num_chains=2, name="aug_mix")(inputs)
model = keras.Model(inputs, outputs)

clone = keras.models.clone_model(model)
expected, found = [it.get_layer("aug_mix").num_chains for it in (model, clone)]
assert found == expected, f"{found} chains in the clone, {expected} in the model"

# /// clonediff
# generation = "keras"
# root = "class-config"
# verdict = "accept"
# severity = "wrong-training"
# since = "3.9.0"
# until = "3.14.0"
# fingerprint = "structure-config-chain-depth-augmix-3ab8bf5d"
# trial.inputs = [{ shape = [1, 1, 3] }]
#
# [[match]]
# check = "structure"
# aspect = ["config.num_chains", "config.chain_depth"]
# kind = "AugMix"
# ///
