"""The clone of a Sequential that was built by its first call checks the shape of what it is called on.

tf_keras/src/engine/sequential.py:498 tells an `input_spec` where a model begins with an InputLayer, and
tf_keras/src/models/cloning.py:389 keeps the one that the first call has made.
"""

# /// clonediff
# generation = "tf_keras"
# severity = "property"
# fingerprint = "structure-attribute-input-spec-model-192acff8"
# trial.inputs = [{ shape = [4] }]
# [[match]]
# check = "structure"
# aspect = "attribute.input_spec"
# found = "list of *"
# ///

import tf_keras as keras
from tf_keras import layers

model = keras.Sequential([layers.ReLU()])
model.build((None, 4))

clone = keras.models.clone_model(model)
expected, found = [type(it.input_spec).__name__ for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
