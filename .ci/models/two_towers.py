"""Two models that CI checks with the action of this repository: one that Keras clones, and one that it does not."""

import keras
from keras import layers


def make_plain():
    features = keras.Input((4,), name="features")
    return keras.Model(features, layers.Dense(1, name="score")(features))


def make_scaled():
    features = keras.Input((4,), name="features")
    scaled = layers.Lambda(lambda x: x / 255, name="scale")(features)
    return keras.Model(features, layers.Dense(1, name="score")(scaled))
