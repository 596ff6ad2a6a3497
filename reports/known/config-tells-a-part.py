"""What the get_config of a custom layer does not tell is the default in the clone.

keras/src/models/cloning.py:219 makes a layer from its config and nothing else; the documentation of get_config asks
for all that the constructor takes.
"""

# /// clonediff
# generation = "keras"
# severity = "computes"
# link = "https://keras.io/guides/serialization_and_saving/"
# documented = true
# fingerprint = "structure-attribute-high-span-03127fd7"
# trial.inputs = [{ shape = [4] }]
# [[match]]
# check = "structure"
# aspect = "attribute.*"
# expected = ["*.*", "'*'"]
# given = "a layer of one's own"
# ///

import keras
from keras import layers


@keras.saving.register_keras_serializable()
class Span(layers.Layer):
    def __init__(self, low=0.5, high=2.0, **kwargs):
        super().__init__(**kwargs)
        self.low = low
        self.high = high
        self.supports_masking = True

    def call(self, x):
        return self.low + x * (self.high - self.low)

    def get_config(self):
        return {**super().get_config(), "low": self.low}


inputs = keras.Input(shape=(4,))
span = Span(high=3.0)(inputs)
model = keras.Model(inputs, span)

clone = keras.models.clone_model(model)
expected, found = [it.get_layer("span").high for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
