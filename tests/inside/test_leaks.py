"""What of an original is found in its clone: by any way that Python can go, and nothing that is everybody's."""

from __future__ import annotations

import functools
import inspect
import types
import weakref
from collections.abc import Callable
from typing import Any

import keras
import msgspec
import pytest
from keras import layers

from clonediff.harness.inside.leaks import leaks, owned
from clonediff.harness.inside.trial import run_trial
from clonediff.harness.subjects.observation import Answer
from clonediff.harness.trials.checks import compare

from .models import NO_LAMBDA, case, tried


class Holder:
    """A layer, as far as this is about it."""

    def __init__(self, **attributes: Any) -> None:
        self._private = ["its own"]
        vars(self).update(attributes)

    def method(self) -> None:
        """Do nothing."""


def function(thing: Any, other: Any = None) -> Any:
    """One that closes over a thing, and has another by default."""

    def inner(default: Any = other) -> Any:
        return thing, default

    return inner


def with_attribute(thing: Any) -> Any:
    named = function(None)
    named.thing = thing
    return named


WAYS = {
    "attribute": (lambda it: it._private, "._way"),
    "inside": (lambda it: {"a": [1, (it._private,)]}, "._way['a'][1][0]"),
    "key": (lambda it: {it: 1}, "._way.<Holder>"),
    "set": (lambda it: {1, it}, "._way.<Holder>"),
    "object": (lambda it: Holder(within=it._private), "._way.within"),
    "closure": (lambda it: function(it), "._way.__closure__[0].cell_contents"),
    "default": (lambda it: function(None, it), "._way.__defaults__[0]"),
    "attribute of a function": (with_attribute, "._way.thing"),
    "method": (lambda it: it.method, "._way.__self__"),
    "partial": (lambda it: functools.partial(print, it), "._way.args[0]"),
    "weak reference": (lambda it: weakref.ref(it), "._way()"),
    "proxy of a dict": (lambda it: types.MappingProxyType({"a": it}), "._way.<dict>['a']"),
}


@pytest.mark.parametrize(("make", "path"), WAYS.values(), ids=WAYS)
def test_an_object_of_the_original_is_found(make: Callable[[Holder], Any], path: str) -> None:
    original = Holder()
    belongings = owned(original)
    clone = Holder(_way=make(original))
    assert [leak.path for leak in leaks([clone], [original], belongings, [])] == [path]


def test_a_leak_says_where_the_original_has_it() -> None:
    shared = ["shared"]
    layer, copied = Holder(deep={"list": shared}), Holder(_way=shared)
    model, clone = Holder(layers=[layer]), Holder(layers=[copied])
    (leak,) = leaks([clone, copied], [model, layer], owned(model), [])
    assert leak == (shared, 0, "._way", 0, ".deep['list']")


VALUE = ("a tuple", 1.0, "text")


@pytest.mark.parametrize(
    "thing",
    [VALUE, Holder, types, len, function(["its user's"])],
    ids=["tuple", "class", "module", "builtin", "function"],
)
def test_values_classes_and_functions_of_a_user_may_be_shared(thing: Any) -> None:
    original, clone = Holder(thing=thing), Holder(thing=thing)
    assert leaks([clone], [original], owned(original), []) == []


NOTES: list[str] = []


class About:
    def __init__(self) -> None:
        self.notes = NOTES
        self.registry = keras.saving.get_custom_objects()
        self.mine: list[str] = []


class Notes(layers.Layer):  # type: ignore[misc]
    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._about = About()

    def call(self, x: Any) -> Any:
        return x * 1.0


SOURCE = "\n".join(
    (
        "from typing import Any\nNOTES = []",
        inspect.getsource(About),
        inspect.getsource(Notes),
        "inputs = keras.Input((3, 4))\nmodel = keras.Model(inputs, Notes()(inputs))",
    )
)


def _shares_a_list(model: Any) -> Any:
    clone = keras.models.clone_model(model)
    clone.layers[-1]._about.mine = model.layers[-1]._about.mine
    return clone


@pytest.mark.parametrize("live", [False, True], ids=["built-again", "live"])
def test_what_a_module_or_keras_holds_is_no_leak_and_a_private_list_is(live: bool) -> None:
    inputs = keras.Input((3, 4))
    request: dict[str, Any] = case(SOURCE).request(())
    if live:
        request = {"model": keras.Model(inputs, Notes()(inputs)), "seed": 1}
    cloners = {"upstream": "upstream", "shares": _shares_a_list}
    answer = msgspec.convert(run_trial({**request, "cloners": cloners}), Answer)
    assert answer.original is not None
    paths = {
        name: [difference.path.partition(".attribute")[2] for difference in compare(answer.original, clone, ["own"])]
        for name, clone in answer.clones.items()
    }
    assert paths == {"upstream": [], "shares": ["._about.mine"]}


@pytest.mark.parametrize(
    ("arguments", "keeps"),
    [
        ({"input_tensors": "keras.Input((3, 4), name='other')"}, ""),
        ({"input_tensors": "model.input"}, "inputs"),
        ({"clone_function": "lambda layer: layer"}, "layers"),
    ],
)
def test_what_the_cloner_was_given_is_no_leak(arguments: dict[str, str], keeps: str) -> None:
    answer = tried(NO_LAMBDA, ["upstream"], arguments=arguments, asked="model = model", keeps=keeps)
    observation = answer.clones["upstream"].observation
    assert observation is not None
    assert not observation.leaks
