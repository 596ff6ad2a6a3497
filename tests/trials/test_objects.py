"""All that a model holds is compared: what differs, what is shared. What no build repeats says nothing."""

from __future__ import annotations

import re

import pytest

from clonediff.harness.subjects import Case, SubjectProcess

from .trying import tried

SOURCE = """
import random
import keras
from keras import layers


class Box:
    def __init__(self, items):
        self.items = items


@keras.saving.register_keras_serializable("tests")
class Holds(layers.Layer):
    def __init__(self, items, **others):
        super().__init__(**others)
        {init}

    @property
    def double(self):
        return self.limit * 2

    def call(self, x):
        return x

    def get_config(self):
        return {{**super().get_config(), "items": {config}}}


given = [1, 2]
x = keras.Input((3,), name="x")
first, second = Holds({given}, name="first"), Holds({given}, name="second")
model = keras.Model(x, layers.Dense(2, name="out")(second(first(x))))
{after}
"""
FIRST, SECOND = "layers['first'].attribute", "layers['second'].attribute"
COPY = "list(self.items)"
IN_A_BOX = "self.box = Box(items)"
NOTE = "self.items = list(items); self.note = {'deep': [1]}"


@pytest.mark.parametrize(
    ("init", "config", "given", "after", "differences"),
    [
        pytest.param(
            *(IN_A_BOX, "self.box.items", "[1, 2]", ""),
            [("own", f"{layer}._auto_config.config['items']") for layer in (FIRST, SECOND)],
            id="a list of the config is the original's",
        ),
        pytest.param(IN_A_BOX, "list(self.box.items)", "[1, 2]", "", [], id="a list that is copied is its own"),
        pytest.param(
            *(IN_A_BOX, "list(self.box.items)", "given", ""),
            [("sharing", f"{SECOND}.box.items")],
            id="what two layers share is two lists",
        ),
        pytest.param(
            *(NOTE, COPY, "[1, 2]", "first.note['deep'].append(given)"),
            [("structure", f"{FIRST}.note['deep']")],
            id="of what is inside of another thing no more is said",
        ),
        *(
            pytest.param(
                *("self.items = list(items)", COPY, "[1, 2]", f"first.note = {note}"),
                [("structure", f"{FIRST}.note")],
                id=f"{note} was set later",
            )
            for note in ("[{'by': 3.0}]", "keras.regularizers.L2(0.25)", "given")
        ),
        *(
            pytest.param(f"self.items = list(items); {drawn}", COPY, "[1, 2]", "", [], id=drawn)
            for drawn in (
                "self.token = random.random()",
                "self.token = object()",
                "self.token = [random.random() for _ in items]",
                "self.drawn = keras.initializers.GlorotUniform()",
            )
        ),
        pytest.param(
            "self.items = list(items); self.drawn = keras.initializers.GlorotUniform()",
            *(COPY, "[1, 2]", "first.drawn = keras.initializers.GlorotUniform(seed=3)"),
            [("structure", f"{FIRST}.drawn.seed")],
            id="a seed that was chosen",
        ),
        pytest.param(
            *("self.items = list(items)", COPY, "[1, 2]", "first.limit = 3"),
            [("structure", f"{FIRST}.double"), ("structure", f"{FIRST}.limit")],
            id="a property that raises is a fact",
        ),
    ],
)
def test_what_is_told_of_what_a_layer_holds(
    init: str, config: str, given: str, after: str, differences: list[tuple[str, str]], keras: SubjectProcess
) -> None:
    source = SOURCE.format(init=init, config=config, given=given, after=after)
    clone = tried(Case(source, ({"shape": [3]},), seed=5), keras, "upstream").clones["upstream"]
    assert sorted({(one.check, one.path) for one in clone.differences}) == differences


def test_a_list_that_a_constructor_consumes_is_changed_in_the_original(keras: SubjectProcess) -> None:
    init = "self.items = items; self.last = items.pop()"
    source = SOURCE.format(init=init, config="self.items", given="[1, 2, 3]", after="")
    clone = tried(Case(source, ({"shape": [3]},), seed=5), keras, "upstream").clones["upstream"]
    assert ("untouched", f"original.{FIRST}.items") in {(one.check, one.path) for one in clone.differences}


HELD = """
import keras
import numpy as np
from keras import layers


def multiplies(by):
    return lambda x: x * by


def normal(seed):
    return keras.initializers.RandomNormal(seed=keras.random.SeedGenerator(seed)).get_config()


def held():
    return {values}


class Holds(layers.Layer):
    def __init__(self, **options):
        super().__init__(**options)
        vars(self).update(held())

    def call(self, x):
        return x

    def get_config(self):
        return dict(name=self.name)


x = keras.Input((3,), name="x")
layer = Holds(name="first")
model = keras.Model(x, layer(x))
vars(layer).update({later})
"""
ALIKE = {
    "functions": ("multiplies(2.0)", "multiplies(2.0)"),
    "objects": ("[object()]", "[object()]"),
    "arrays": ("np.zeros(2)", "np.zeros(2)"),
}
UNLIKE = {
    "closures": ("multiplies(2.0)", "multiplies(3.0)"),
    "code": ("lambda x: x + 1", "lambda x: x + 2"),
    "sequences": ("(1, 2)", "[1, 2]"),
    "order of keys": ("{'b': 1, 'a': 2}", "{'a': 2, 'b': 1}"),
    "numbers": ("1", "1.0"),
    "bools": ("True", "1"),
    "None": ("None", "'None'"),
    "arrays": ("np.zeros(2)", "np.ones(2)"),
    "zeros": ("np.zeros(2)", "-np.zeros(2)"),
    "seeds": ("normal(3)", "normal(4)"),
    "long": ("'x' * 500", "'x' * 501"),
}


@pytest.mark.parametrize("pairs", [ALIKE, UNLIKE], ids=["alike", "unlike"])
def test_values_that_differ_are_told_and_equal_ones_are_not(
    pairs: dict[str, tuple[str, str]], keras: SubjectProcess
) -> None:
    names = {name.replace(" ", "_"): values for name, values in pairs.items()}
    values, later = (f"dict({', '.join(f'{name}_={pair[side]}' for name, pair in names.items())})" for side in (0, 1))
    clone = tried(
        Case(HELD.replace("{values}", values).replace("{later}", later), ({"shape": [3]},)), keras, "upstream"
    )
    found = {
        re.split(r"_?[.\[]|_$", one.path.removeprefix(f"{FIRST}."))[0] for one in clone.clones["upstream"].differences
    }
    assert found == ({*names} if pairs is UNLIKE else set())
