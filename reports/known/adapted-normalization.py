"""`Normalization.set_weights` does not update `mean` and `variance`, so the clone does not normalize.

`call` uses tensors that `finalize_state` computes from the weights. `adapt` and `load_weights` call `finalize_state`,
but `set_weights`, the usual way to copy weights to a clone, does not.
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/layers/preprocessing/normalization.py#L405
"""

import keras
import numpy as np
from keras import layers

inputs = keras.Input(shape=(1,))
normalization = layers.Normalization()
model = keras.Model(inputs, normalization(inputs))
normalization.adapt(np.array([[1.0], [3.0]]))

clone = keras.models.clone_model(model)
clone.set_weights(model.get_weights())
x = np.array([[5.0]], dtype="float32")
expected, found = float(model(x)[0, 0]), float(clone(x)[0, 0])
assert found == expected, f"5.0 becomes {found} in the clone, {expected} in the model"

# /// clonediff
# generation = "keras"
# root = "state"
# verdict = "accept"
# severity = "wrong-output"
# backends = ["tensorflow", "jax"]
# fingerprint = "structure-attribute-mean-normalization-802eb1e8"
# trial.inputs = [{ shape = [1] }]
#
# [[match]]
# check = "structure"
# aspect = ["attribute.mean", "attribute.variance"]
# kind = "Normalization"
# ///
