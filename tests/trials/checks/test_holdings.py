"""All that a model holds is compared: what differs, what is shared. What no build repeats says nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from clonediff.harness.subjects import Case, SubjectProcess
from clonediff.harness.trials.trial import CloneTrial, run
from tests.waiting import PATIENCE

LAYER = """
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

    def call(self, x):
        return x

    def get_config(self):
        return {{**super().get_config(), "items": {told}}}


given = [1, 2]
x = keras.Input((3,), name="x")
first, second = Holds({given}, name="first"), Holds({given}, name="second")
{before}
model = keras.Model(x, layers.Dense(2, name="out")(second(first(x))))
{after}
"""


def _case(init: str, told: str = "self.items", given: str = "[1, 2]", before: str = "", after: str = "") -> Case:
    source = LAYER.format(init=init, told=told, given=given, before=before, after=after)
    return Case(source, ({"shape": [3]},), seed=5)


@pytest.fixture(scope="module")
def cloned(warm: Callable[[str], SubjectProcess]) -> Callable[..., CloneTrial]:
    process = warm("keras")

    def clone(case: Case, cloner: str = "upstream") -> CloneTrial:
        return run(case, process, ["upstream", "fixed"], timeout=PATIENCE).clones[cloner]

    return clone


def _told(clone: CloneTrial) -> set[tuple[str, str]]:
    return {(each.check, each.path) for each in clone.differences}


FIRST, SECOND = "layers['first'].attribute", "layers['second'].attribute"


def test_a_list_of_the_config_is_the_original_s(cloned: Callable[..., CloneTrial]) -> None:
    told = cloned(_case(init="self.box = Box(items)", told="self.box.items"))
    assert _told(told) == {("own", FIRST + ".box.items"), ("own", SECOND + ".box.items")}
    assert [cause.fingerprint for cause in told.causes] == ["own-object-shared-" + told.causes[0].fingerprint[-8:]]


def test_a_list_that_is_copied_is_its_own(cloned: Callable[..., CloneTrial]) -> None:
    assert not _told(cloned(_case(init="self.box = Box(items)", told="list(self.box.items)")))


def test_what_two_layers_share_is_two_lists(cloned: Callable[..., CloneTrial]) -> None:
    told = cloned(_case(init="self.box = Box(items)", told="list(self.box.items)", given="given"))
    assert _told(told) == {("sharing", SECOND + ".box.items")}
    assert told.differences[0].expected == "the same as layers['first'].box.items"


def test_a_list_that_a_constructor_consumes_is_changed_in_the_original(cloned: Callable[..., CloneTrial]) -> None:
    told = _told(cloned(_case(init="self.items = items; self.last = items.pop()", given="[1, 2, 3]")))
    assert ("untouched", "original." + FIRST + ".items") in told


@pytest.mark.parametrize(
    "after", ["first.note = [{'by': 3.0}]", "first.note = keras.regularizers.L2(0.25)", "first.note = given"]
)
def test_what_was_set_later_is_missing(cloned: Callable[..., CloneTrial], after: str) -> None:
    told = cloned(_case(init="self.items = list(items)", after=after))
    assert ("structure", FIRST + ".note") in _told(told)


def test_of_what_is_inside_of_another_thing_no_more_is_said(cloned: Callable[..., CloneTrial]) -> None:
    init = "self.items = list(items); self.note = {'deep': [1]} if 'note' not in vars(type(self)) else 0"
    told = cloned(_case(init=init, told="list(self.items)", after="first.note['deep'].append(given)"))
    assert _told(told) == {("structure", FIRST + ".note['deep']")}


@pytest.mark.parametrize(
    "init",
    [
        "self.items = list(items); self.token = random.random()",
        "self.items = list(items); self.token = object()",
        "self.items = list(items); self.token = [random.random() for _ in items]",
        "self.items = list(items); self.drawn = keras.initializers.GlorotUniform()",
    ],
)
def test_what_no_build_repeats_says_nothing(cloned: Callable[..., CloneTrial], init: str) -> None:
    assert not _told(cloned(_case(init=init, told="list(self.items)")))


def test_a_seed_that_was_given_is_told(cloned: Callable[..., CloneTrial]) -> None:
    init = "self.items = list(items); self.drawn = keras.initializers.GlorotUniform()"
    case = _case(init=init, told="list(self.items)", after="first.drawn = keras.initializers.GlorotUniform(seed=3)")
    told = cloned(case)
    assert _told(told) == {("structure", FIRST + ".drawn.seed")}


def test_a_property_that_raises_is_a_fact(cloned: Callable[..., CloneTrial]) -> None:
    source = _case(init="self.items = list(items)", after="first.limit = 3").source.replace(
        "    def call(", "    @property\n    def double(self):\n        return self.limit * 2\n\n    def call("
    )
    told = cloned(Case(source, ({"shape": [3]},), seed=5))
    assert ("structure", FIRST + ".double") in _told(told)
