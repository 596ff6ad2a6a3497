"""A functional model whose class has a constructor of its own is a plain model in the clone.

keras/src/models/cloning.py:421 makes a Functional of a class that is not made of inputs and outputs; :179 never
leaves it to the class's own config, since it asks whether there is a clone_function, in the place of which :166 has
put a function.
"""

# /// clonediff
# generation = "keras"
# severity = "property"
# fingerprint = "structure-kind-ownmodel-ad888daa"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "structure"
# aspect = "kind"
# path = "model.kind"
# found = "Functional"
# ///

import keras
from keras import layers


class OwnModel(keras.Model):
    def __init__(self, factor=1.0, **kwargs):
        inputs = keras.Input(shape=(1,), name="start_0")
        part_0 = layers.Activation("relu", name="part_0")(inputs)
        super().__init__(inputs, part_0, **kwargs)
        self.factor = factor

    def get_config(self):
        return {"name": self.name, "factor": self.factor}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        return cls(**config)


model = OwnModel(factor=2.0)

clone = keras.models.clone_model(model)
expected, found = [type(it).__name__ for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
