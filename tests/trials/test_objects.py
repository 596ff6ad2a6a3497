"""All values in a model, and which of them are shared, are compared, except for values that change by chance."""

from __future__ import annotations

import re

import pytest

from clonediff.harness.subjects import Case, SubjectProcess
from tests.helpers.trials import run_trial

SOURCE = """
import random
import uuid
import keras
from keras import layers


class Box:
    def __init__(self, items):
        self.items = items


@keras.saving.register_keras_serializable("tests")
class Holder(layers.Layer):
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
first, second = Holder({given}, name="first"), Holder({given}, name="second")
model = keras.Model(x, layers.Dense(2, name="out")(second(first(x))))
{after}
"""
FIRST, SECOND = "layers['first'].attribute", "layers['second'].attribute"
COPY, ITEMS = "list(self.items)", "self.items = list(items)"
BOX, BOX_ITEMS = "self.box = Box(items)", "list(self.box.items)"
CHANCE_VALUES = (
    "random.random()",
    "object()",
    "[random.random() for _ in items]",
    "keras.initializers.GlorotUniform()",
    "'7' + uuid.uuid4().hex",
)
ENDS = (".attribute", ".config")
LATER_VALUES = ("[{'by': 3.0}]", "keras.regularizers.L2(0.25)", "given")
ROWS = [
    (BOX, "self.box.items", "[1, 2]", "", [f"own {of}._auto_config.config['items']" for of in (FIRST, SECOND)]),
    (BOX, BOX_ITEMS, "[1, 2]", "", []),
    (BOX, BOX_ITEMS, "given", "", [f"sharing {SECOND}.box.items"]),
    (
        f"{ITEMS}; self.note = {{'deep': [1]}}",
        *(COPY, "[1, 2]", "first.note['deep'].append(given)", [f"structure {FIRST}.note['deep']"]),
    ),
    *((ITEMS, COPY, "[1, 2]", f"first.note = {note}", [f"structure {FIRST}.note"]) for note in LATER_VALUES),
    *((f"{ITEMS}; self.drawn = {value}", COPY, "[1, 2]", "", []) for value in CHANCE_VALUES),
    (
        f"{ITEMS}; self.drawn = keras.initializers.GlorotUniform()",
        *(COPY, "[1, 2]", "first.drawn = keras.initializers.GlorotUniform(seed=3)"),
        [f"structure {FIRST}.drawn.seed"],
    ),
    (ITEMS, COPY, "[1, 2]", "first.limit = 3", [f"structure {FIRST}.double", f"structure {FIRST}.limit"]),
    (
        "self.items = items; self.last = items.pop()",
        *("self.items", "[1, 2, 3]", ""),
        [
            *(f"own {of}._auto_config.config['items']" for of in (FIRST, SECOND)),
            *(f"untouched original.{of}{end}.items" for of in ("layers['first']", "layers['second']") for end in ENDS),
        ],
    ),
]
"""Rows: a line of `__init__`, the value in the config, the argument, a later line, and the differences."""


@pytest.mark.parametrize(("init", "config", "given", "after", "expected"), ROWS)
def test_attributes_of_layers_and_their_sharing_are_compared(
    init: str, config: str, given: str, after: str, expected: list[str], keras: SubjectProcess
) -> None:
    source = SOURCE.format(init=init, config=config, given=given, after=after)
    clone = run_trial(Case(source, ({"shape": [3]},), seed=5), keras, "upstream").clones["upstream"]
    assert sorted({f"{difference.check} {difference.path}" for difference in clone.differences}) == expected


HELD_VALUES = """
import keras
import numpy as np
from keras import layers


def multiplier(by):
    return lambda x: x * by


def normal(seed):
    return keras.initializers.RandomNormal(seed=keras.random.SeedGenerator(seed)).get_config()


def held():
    return {values}


class Holder(layers.Layer):
    def __init__(self, **options):
        super().__init__(**options)
        vars(self).update(held())

    def call(self, x):
        return x

    def get_config(self):
        return dict(name=self.name)


x = keras.Input((3,), name="x")
layer = Holder(name="first")
model = keras.Model(x, layer(x))
vars(layer).update({later})
"""
EQUAL_PAIRS = {
    "functions": ("multiplier(2.0)", "multiplier(2.0)"),
    "objects": ("[object()]", "[object()]"),
    "arrays": ("np.zeros(2)", "np.zeros(2)"),
}
UNEQUAL_PAIRS = {
    "closures": ("multiplier(2.0)", "multiplier(3.0)"),
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


@pytest.mark.parametrize("pairs", [EQUAL_PAIRS, UNEQUAL_PAIRS], ids=["alike", "unlike"])
def test_values_of_attributes_are_compared_by_content(pairs: dict[str, tuple[str, str]], keras: SubjectProcess) -> None:
    names = {name.replace(" ", "_"): values for name, values in pairs.items()}
    values, later = (f"dict({', '.join(f'{name}_={pair[side]}' for name, pair in names.items())})" for side in (0, 1))
    case = Case(HELD_VALUES.replace("{values}", values).replace("{later}", later), ({"shape": [3]},))
    paths = [difference.path for difference in run_trial(case, keras, "upstream").clones["upstream"].differences]
    found = {re.split(r"_?[.\[]|_$", path.removeprefix(f"{FIRST}."))[0] for path in paths}
    assert found == ({*names} if pairs is UNEQUAL_PAIRS else set())
