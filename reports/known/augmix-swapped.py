"""An AugMix has as many chains in the clone as they are deep, and the other way round.

in 3.13.2, keras/src/layers/preprocessing/image_preprocessing/aug_mix.py:319 writes the depth of the chains down as
their number, and :320 their number as the depth.
"""

# /// clonediff
# generation = "keras"
# severity = "trains"
# since = "3.10.0"
# until = "3.14.0"
# fingerprint = "structure-config-chain-depth-augmix-3ab8bf5d"
# trial.inputs = [{ shape = [1, 1, 3] }]
# [[match]]
# check = "structure"
# aspect = ["config.num_chains", "config.chain_depth"]
# kind = "AugMix"
# ///

# keras 3.13.2, tensorflow 2.21.0, numpy 2.4.6, python 3.11.7

import keras
from keras import layers

inputs = keras.Input(shape=(1, 1, 3))
aug_mix = layers.AugMix(num_chains=2)(inputs)
model = keras.Model(inputs, aug_mix)

clone = keras.models.clone_model(model)
expected, found = [it.get_layer("aug_mix").get_config().get("chain_depth") for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
