"""The weights of a custom layer in a nested model lose the layer's name from theirs, or get it where the model
was loaded.

tf_keras/src/saving/serialization_lib.py:730 builds the layer of a nested model, or of one that is loaded, as soon
as it is read from the config, and tf_keras/src/engine/base_layer.py:2386 builds it outside of its name scope;
called by clone_model, a layer is built within it (:2540 there).
"""

# /// clonediff
# generation = "tf_keras"
# severity = "name"
# since = "2.13.0"
# fingerprint = "weights-weight-scope-202963d4"
# trial.inputs = [{ shape = [4] }]
# [[match]]
# check = "weights"
# aspect = "weight scope"
# path = "weights*.name"
# inside = "?*"
# ///

import tf_keras as keras
from tf_keras import layers


@keras.saving.register_keras_serializable()
class Scale(layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    def build(self, input_shape):
        self.scale = self.add_weight(name="scale", shape=(input_shape[-1],), initializer="uniform")
        self.built = True

    def call(self, x):
        return x * self.scale

    def compute_output_shape(self, input_shape):
        return input_shape


inputs = keras.Input(shape=(4,))
inner_inputs = keras.Input(shape=(4,))
scale = Scale()(inner_inputs)
inner_model = keras.Model(inner_inputs, scale)
model_2 = inner_model(inputs)
model = keras.Model(inputs, model_2)

clone = keras.models.clone_model(model)
expected, found = [
    [(each.name, tuple(each.shape), str(each.dtype), each.trainable) for each in it.weights] for it in (model, clone)
]
assert found == expected, f"{found} in the clone, {expected} in the model"
