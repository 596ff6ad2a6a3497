"""A model whose shared layer gives more tensors in one call than in another cannot be cloned.

keras/src/ops/function.py:88 takes it that each call of a layer gives as many tensors as its first one, which in the
clone is another one, since keras/src/models/cloning.py:407 goes by depth in the graph.
"""

# /// clonediff
# generation = "keras"
# severity = "crashes"
# raises = "ValueError"
# since = "3.14.0"
# fingerprint = "made-raises-valueerror-cf85a2e9"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "made"
# found = "*Output with path*is not connected to*"
# exception = "ValueError"
# frame = "keras/src/ops/function.py:_run_through_graph"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(1,))
attention_layer = layers.Attention()
attention_a, attention_b = attention_layer([inputs, inputs], return_attention_scores=True)
attention = attention_layer([inputs, inputs])
model = keras.Model(inputs, [attention_b, attention])

clone = keras.models.clone_model(model)
