"""`initializers.Identity` has no `get_config`, so `gain` is reset to 1.0 in the clone.

https://github.com/keras-team/keras/blob/v3.15.1/keras/src/initializers/constant_initializers.py#L135
"""

import keras
from keras import layers

inputs = keras.Input(shape=(1,))
outputs = layers.Dense(1, kernel_initializer=keras.initializers.Identity(gain=0.5))(inputs)
model = keras.Model(inputs, outputs)

clone = keras.models.clone_model(model)
expected, found = [float(it.get_weights()[0][0, 0]) for it in (model, clone)]
assert found == expected, f"the kernel starts at {found} in the clone, {expected} in the model"

# /// clonediff
# generation = "keras"
# root = "class-config"
# verdict = "accept"
# severity = "lost-property"
# since = "3.7.0"
# until = "3.16.0"
# fingerprint = "structure-attribute-kernel-initializer-gain-dense-62d4b454"
# trial.inputs = [{ shape = [1] }]
#
# [[match]]
# check = "structure"
# aspect = "attribute.*initializer.gain"
# found = "1.0"
# ///
