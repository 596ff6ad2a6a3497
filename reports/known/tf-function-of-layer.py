"""A layer cannot be cloned whose activation, initializer or constraint is a function or a method that is not
registered.

tf_keras/src/models/cloning.py:52 makes the layer from its config, which has a function by its name;
tf_keras/src/activations.py:647 and tf_keras/src/saving/legacy/serialization.py:539 find no more than Keras' own and
what is registered; where no weight has it, the constraint of the clone is its name
(tf_keras/src/saving/serialization_lib.py:600).
"""

# /// clonediff
# generation = "tf_keras"
# severity = "crashes"
# raises = "TypeError"
# link = "https://www.tensorflow.org/guide/keras/save_and_serialize"
# documented = true
# fingerprint = "made-raises-typeerror-8f40107c"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "made"
# found = "*Unknown activation function*"
# exception = "*Error"
# frame = "tf_keras/src/activations.py:deserialize"
#
# [[match]]
# check = "made"
# found = ["*Unknown constraint*", "*Unknown initializer*", "*Unknown regularizer*"]
# exception = "*Error"
# frame = "*/saving/legacy/serialization.py:*"
#
# [[match]]
# check = "structure"
# aspect = "config.*_constraint"
# expected = ["{class_name: 'function'*", "{class_name: 'method'*"]
# found = "'*'"
#
# [[match]]
# check = "made"
# found = "*'str' object is not callable*"
# exception = "TypeError"
# frame = "tf_keras/src/layers/*"
# ///

import tf_keras as keras
from tf_keras import layers


def double(x):
    return x * 2.0


inputs = keras.Input(shape=(1,))
dense = layers.Dense(1, activation=double)(inputs)
model = keras.Model(inputs, dense)

clone = keras.models.clone_model(model)
