"""`AUC.from_config` does not deserialize `label_weights`, so cloning and loading raise.

`get_config` returns them as a tensor, which is serialized to a dictionary, and `from_config` passes that dictionary to
the constructor.
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/metrics/confusion_metrics.py#L1587
https://github.com/keras-team/keras/blob/v3.15.1/keras/src/metrics/metric.py#L235
"""

import keras
from keras import layers

inputs = keras.Input(shape=(1,))
outputs = layers.Dense(1)(inputs)
model = keras.Model(inputs, outputs)
model.compile(metrics=[keras.metrics.AUC(multi_label=True, label_weights=[1.0])])

clone = keras.models.clone_model(model)

# /// clonediff
# generation = "keras"
# root = "class-config"
# verdict = "accept"
# severity = "crash"
# loading = true
# raises = "ValueError"
# since = "3.9.0"
# backends = ["tensorflow", "torch"]
# fingerprint = "made-raises-valueerror-7fc94124"
# trial.inputs = [{ shape = [1] }]
#
# [[match]]
# check = "made"
# found = "*'class_name': '__tensor__'*"
# exception = "ValueError"
# frame = "keras/src/trainers/trainer.py:compile_from_config"
# ///
