"""A tuple in the arguments of a call is a list in the clone, where the call is inside a nested model.

keras/src/saving/serialization_lib.py:557 gives a list for a tuple in the node of a nested model's config.
"""

# /// clonediff
# generation = "keras"
# severity = "computes"
# since = "3.3.3"
# fingerprint = "structure-call-tuple-as-list-26a894ec"
# trial.inputs = [{ shape = [4] }]
# [[match]]
# check = "structure"
# aspect = ["call.args type", "call.kwargs type"]
# path = "layers['*/*'].calls*"
# found = "[*"
# ///

import keras
from keras import layers


@keras.saving.register_keras_serializable()
class Shift(layers.Layer):
    def call(self, x, by=None):
        return x + (by[1] if isinstance(by, list) else by[0])


inputs = keras.Input(shape=(4,))
inner_inputs = keras.Input(shape=(4,))
shift = Shift()(inner_inputs, by=(1.0, 2.0))
inner_model = keras.Model(inner_inputs, shift)
model_2 = inner_model(inputs)
model = keras.Model(inputs, model_2)

clone = keras.models.clone_model(model)
zeros = keras.ops.zeros((1, 4))
expected, found = (keras.ops.convert_to_numpy(it(zeros)).tolist() for it in (model, clone))
assert found == expected, f"{found} from the clone, {expected} from the model"
