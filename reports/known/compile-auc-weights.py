"""A model that is compiled with an AUC that has label_weights cannot be cloned.

keras/src/metrics/confusion_metrics.py:1587 writes label_weights as a tensor, and keras/src/metrics/metric.py:235 hands
the dictionary that a tensor becomes to the constructor as it is.
"""

# /// clonediff
# generation = "keras"
# severity = "crashes"
# raises = "ValueError"
# fingerprint = "made-raises-valueerror-7fc94124"
# trial.inputs = [{ shape = [1] }]
# [[match]]
# check = "made"
# found = "*'class_name': '__tensor__'*"
# exception = "ValueError"
# frame = "keras/src/trainers/trainer.py:compile_from_config"
# ///

import keras
from keras import layers

inputs = keras.Input(shape=(1,))
activation = layers.Activation("relu")(inputs)
model = keras.Model(inputs, activation)
model.compile(metrics=[keras.metrics.AUC(multi_label=True, label_weights=[1.0])])

clone = keras.models.clone_model(model)
