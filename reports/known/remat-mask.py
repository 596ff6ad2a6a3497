"""A mask that is set within a call is lost where the layer or the model was made in a RematScope, and is there
in a clone that was not, or the other way round.

keras/src/ops/operation.py:34 takes the RematScope that is open when a layer or a model is made, and no config tells
it: clone_model (keras/src/models/cloning.py:219) makes it in the one that is open then, if any; tf.recompute_grad
(keras/src/backend/tensorflow/core.py:856) gives other tensors than the call has given, without the masks that were
set on those: by a layer of the model, or by a layer itself (keras/src/layers/core/reversible_embedding.py:127).
"""

# /// clonediff
# generation = "keras"
# severity = "computes"
# since = "3.9.0"
# ///

import keras
from keras import layers

with keras.RematScope(mode="full"):
    inputs = keras.Input(shape=(1,))
    embedding = layers.Embedding(6, output_dim=1, mask_zero=True)(inputs)
    model = keras.Model(inputs, embedding)

clone = keras.models.clone_model(model)
import numpy as np

rng = np.random.default_rng(2463042037)
x = rng.standard_normal((2, 1))
rows = rng.random((2, 1)) < 0.35
rows[:, 0] = False
x[rows] = 0.0  # steps that a mask leaves out
x = x.astype("float32")
values = [x]
for one, other in zip(model.variables, clone.variables):
    other.assign(one)


def run(model):
    return model(values[0], training=False)


expected, found = run(model), run(clone)
expected, found = keras.tree.flatten(expected), keras.tree.flatten(found)
assert len(found) == len(expected), (len(found), len(expected))
for one, other in zip(expected, found):
    masks = [getattr(each, "_keras_mask", None) for each in (other, one)]
    assert (masks[0] is None) == (masks[1] is None), masks
    if masks[1] is not None:
        np.testing.assert_array_equal(*map(keras.ops.convert_to_numpy, masks))
