"""A dtype policy of a class of one's own is a plain one in the clone.

keras/src/ops/operation.py:354 gives the constructor no more than the name of the policy that it has read.
"""

# /// clonediff
# generation = "keras"
# severity = "property"
# since = "3.4.0"
# fingerprint = "structure-config-dtype-6d45574f"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "structure"
# aspect = "config.dtype"
# expected = "{class_name: *, registered_name: '*>*'}"
# found = "{class_name: 'DTypePolicy', *"
#
# [[match]]
# check = "sharing"
# aspect = "unshared.dtype_policy"
# expected = "the same as *.dtype_policy"
# ///

import keras
from keras import layers


@keras.saving.register_keras_serializable()
class Precise(keras.DTypePolicy):
    def __init__(self, by, **kwargs):
        super().__init__(**kwargs)
        self.by = by

    def convert_input(self, x, autocast, dtype):
        return super().convert_input(x, autocast or self.by > 1.0, dtype)

    def get_config(self):
        return {**super().get_config(), "by": self.by}


inputs = keras.Input(shape=(1,))
activation = layers.Activation("relu", dtype=Precise(2.0))(inputs)
model = keras.Model(inputs, activation)

clone = keras.models.clone_model(model)
expected, found = [it.get_layer("activation").get_config().get("dtype") for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
