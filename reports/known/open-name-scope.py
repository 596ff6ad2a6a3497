"""The path of a weight loses the name scopes that its layer was built in.

keras/src/backend/common/variables.py:145 takes the name scopes that are open when a weight is made: that of a
Sequential which is built when it is called (keras/src/layers/layer.py:926), or by itself
(keras/src/layers/layer.py:230) before a model is cut out of it, or one that was opened by hand as at
keras/src/applications/nasnet.py:515; clone_model (keras/src/models/cloning.py:219) makes the layer anew in none.
"""

# /// clonediff
# generation = "keras"
# severity = "name"
# fingerprint = "weights-weight-scope-202963d4"
# trial.inputs = [{ shape = [4] }]
# [[match]]
# check = "weights"
# aspect = "weight scope"
# inside = ""
# ///

import keras
from keras import layers

base = keras.Sequential([keras.Input(shape=(4,)), layers.Dense(4)])
model = keras.Model(base.inputs[0], base.layers[0].output)

clone = keras.models.clone_model(model)
expected, found = [
    [(each.path, tuple(each.shape), str(each.dtype), each.trainable) for each in it.weights] for it in (model, clone)
]
assert found == expected, f"{found} in the clone, {expected} in the model"
