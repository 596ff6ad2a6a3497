"""supports_masking that is set on a layer is lost in the clone.

tf_keras/src/engine/base_layer.py:802 writes a config without supports_masking, so a layer on which it was set by
hand is cloned with the default of its class.
"""

# /// clonediff
# generation = "tf_keras"
# severity = "property"
# fingerprint = "structure-attribute-supports-masking-3b631eb5"
# trial.inputs = [{ shape = [4] }]
# [[match]]
# check = "structure"
# aspect = "attribute.supports_masking"
# ///

import tf_keras as keras
from tf_keras import layers


@keras.saving.register_keras_serializable()
class DropMask(layers.Layer):
    def call(self, x):
        return x * 2.0


inputs = keras.Input(shape=(4,))
drop_mask_layer = DropMask()
drop_mask_layer.supports_masking = True
drop_mask = drop_mask_layer(inputs)
model = keras.Model(inputs, drop_mask)

clone = keras.models.clone_model(model)
expected, found = [it.get_layer("drop_mask").supports_masking for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
