"""`clone_model` replays calls by depth, so attention called with and without scores raises "not connected".

`Function` assumes that each call of a layer returns as many tensors as its first call. In the clone, a different call
can be the first, because calls are replayed by their depth in the graph, not in the order in which they were made.
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/ops/function.py#L88
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/models/cloning.py#L407
"""

import keras
from keras import layers

inputs = keras.Input(shape=(1,))
attention = layers.Attention()
_, scores = attention([inputs, inputs], return_attention_scores=True)
outputs = attention([inputs, inputs])
model = keras.Model(inputs, [scores, outputs])

clone = keras.models.clone_model(model)

# /// clonediff
# generation = "keras"
# root = "order"
# verdict = "accept"
# severity = "crash"
# raises = "ValueError"
# since = "3.14.0"
# fingerprint = "made-raises-valueerror-cf85a2e9"
# trial.inputs = [{ shape = [1] }]
#
# [[match]]
# check = "made"
# found = "*Output with path*is not connected to*"
# exception = "ValueError"
# frame = "keras/src/ops/function.py:_run_through_graph"
# ///
