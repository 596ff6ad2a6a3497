"""An adapted Discretization has an empty summary in the clone, to which no more data can be added.

keras/src/layers/preprocessing/discretization.py:283 writes a config without the summary that update_state makes of
data (:212), so that the next update_state of the clone begins anew.
"""

# /// clonediff
# generation = "keras"
# severity = "property"
# fingerprint = "structure-attribute-summary-discretization-6612c6a6"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "structure"
# aspect = "attribute.summary"
# kind = "Discretization"
# ///

import keras
import numpy as np
from keras import layers

inputs = keras.Input(shape=(1,))
discretization_layer = layers.Discretization(num_bins=4)
discretization = discretization_layer(inputs)
model = keras.Model(inputs, discretization)
discretization_layer.adapt(np.arange(1, 3, dtype="float32").reshape(2, 1) / 2)

clone = keras.models.clone_model(model)
expected, found = [keras.ops.convert_to_numpy(it.get_layer("discretization").summary).tolist() for it in (model, clone)]
assert found == expected, f"{found} in the clone, {expected} in the model"
