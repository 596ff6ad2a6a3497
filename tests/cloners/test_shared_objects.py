"""What two places of a model share, the same places of its clone share: one object of the clone's own."""

from __future__ import annotations

from typing import Any

import keras
import pytest
import tf_keras

from clonediff import assert_clones_faithfully, clone_model
from clonediff.harness.inside.cloners.fixed.adapter import Adapter
from clonediff.harness.inside.cloners.fixed.shared_objects import SharedObjects

KERAS: dict[str, Any] = {"keras": keras, "tf_keras": tf_keras}


class Weighing:
    """A regularizer of a user's own, with a list in it, which can change."""

    def __init__(self, by: Any = (1.0,)) -> None:
        self.by = list(by)

    def __call__(self, x: Any) -> Any:
        return keras.ops.sum(keras.ops.convert_to_tensor(x)) * 0.0 + sum(self.by)

    def get_config(self) -> dict[str, Any]:
        return {"by": self.by}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Weighing:
        return cls(**config)


def model(generation: str) -> Any:
    """Two layers that share a regularizer, one with it in two places, and one with a regularizer that is equal."""
    theirs = KERAS[generation]
    shared = Weighing()
    x = inputs = theirs.Input((3,))
    for name, kernel, bias in (("one", shared, shared), ("two", shared, None), ("three", Weighing(), None)):
        x = theirs.layers.Dense(3, kernel_regularizer=kernel, bias_regularizer=bias, name=name)(x)
    return theirs.Model(inputs, x)


@pytest.mark.parametrize("generation", KERAS)
def test_an_object_that_layers_share_is_one_in_the_clone(generation: str) -> None:
    original = model(generation)
    clone = clone_model(original)
    one, two, three = (clone.get_layer(name) for name in ("one", "two", "three"))
    assert one.kernel_regularizer is one.bias_regularizer is two.kernel_regularizer
    assert three.kernel_regularizer is not one.kernel_regularizer
    assert one.kernel_regularizer is not original.get_layer("one").kernel_regularizer
    one.kernel_regularizer.by.append(1.0)
    losses = [float(loss) for loss in clone.losses]
    assert sorted(losses) == [1.0, 2.0, 2.0, 2.0], "each weight is regularized by the object that its layer has"
    assert_clones_faithfully(model(generation), costly=False)


class WithoutConfig(keras.regularizers.Regularizer):
    """A regularizer whose class has no `get_config`: that of its base class raises."""

    def __call__(self, x: Any) -> Any:
        return keras.ops.sum(x) * 0.0


class Forgetful(keras.layers.Layer):
    """A layer whose config leaves out its activity regularizer."""

    def call(self, x: Any) -> Any:
        return x * 2.0

    def get_config(self) -> dict[str, Any]:
        return {"name": self.name, "dtype": self.dtype}


def test_a_regularizer_that_no_config_makes_again_is_passed_on() -> None:
    regularizer = WithoutConfig()
    layer = Forgetful(name="forgetful", activity_regularizer=regularizer)
    double = keras.layers.Lambda(lambda x: x * 2.0, name="double", activity_regularizer=regularizer)
    inputs = keras.Input((3,))
    clone = clone_model(keras.Model(inputs, double(layer(inputs))))
    for name in ("forgetful", "double"):
        assert clone.get_layer(name).activity_regularizer is regularizer


class Holder:
    def __init__(self, **held: Any) -> None:
        vars(self).update(held)


class Objects(Adapter):
    """An adapter for objects that are no layers."""

    keras_modules = ("keras.",)

    def is_part(self, value: Any) -> bool:
        return False

    def is_of_keras(self, attribute: str) -> bool:
        return attribute == "theirs"


def test_containers_are_shared_where_they_are_the_same_and_equal() -> None:
    common, unlike = [1, 2], [3]
    original = Holder(a=common, b={"in": common}, c=unlike, d=unlike, theirs=common)
    clone = Holder(a=[1, 2], b={"in": [1, 2]}, c=[3], d=[4], theirs=[1, 2])
    SharedObjects(Objects()).share_alike(original, clone)
    assert clone.b["in"] is clone.a
    assert clone.theirs is not clone.a
    assert (clone.c, clone.d) == ([3], [4]), "what is another already stays as it is"


def test_what_leads_to_itself_ends() -> None:
    original, clone = Holder(), Holder()
    original.me, clone.me = original, clone
    SharedObjects(Objects()).share_alike(original, clone)
    assert clone.me is clone
