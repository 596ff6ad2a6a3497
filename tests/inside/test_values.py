"""Numbers, digests and texts of a trial."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import keras
import numpy as np
import pytest

from clonediff.harness.inside.canonical import LONGEST, entry, text
from clonediff.harness.inside.digests import Digests, same
from clonediff.harness.inside.structure import numbered
from clonediff.harness.inside.values import input_arrays, weight_arrays
from clonediff.harness.inside.variable_values import fresh


def arrays(seed: int = 1, **spec: Any) -> Any:
    (array,) = input_arrays([{"shape": [4, 3], "dtype": "float32", **spec}], 3, seed)
    return array


def test_numbers_are_those_of_their_seed() -> None:
    assert arrays(shape=[None, 4], fill="normal").shape == (3, 3, 4)
    assert (arrays(fill="normal") == arrays(fill="normal")).all()
    assert (arrays(fill="normal") != arrays(2, fill="normal")).any()
    with pytest.raises(ValueError, match="unknown fill 'sand'.*normal"):
        arrays(fill="sand")


@pytest.mark.parametrize("seed", range(10))
def test_numbers_suit_what_takes_them(seed: int) -> None:
    zero = (arrays(seed, fill="steps") == 0).all(axis=-1)
    assert zero.any()
    assert not zero[:, 0].any()
    assert (zero[:, :-1] & ~zero[:, 1:]).any(), "one row of zeros that is not at the end"
    mask = arrays(seed, shape=[4], dtype="bool", fill="mask")
    assert mask.any(axis=1).all()
    assert not mask.all()
    ids = arrays(seed, shape=[5], dtype="int32", fill="ids", high=4, batch=7)
    assert (ids.shape, ids.min()) == ((7, 5), 0)
    assert ids.max() < 4


def test_weights_are_distinct_and_variances_positive() -> None:
    kernel, count, variance = weight_arrays(
        [("kernel", (2, 3), "float32"), ("count", (), "int32"), ("moving_variance", (50,), "float32")], 4
    )
    assert (len(np.unique(kernel)), count) == (6, None)
    assert (variance >= 0.5).all()


FLOATS = np.array([[0.25], [0.75]], "float32")
FEW, MANY = np.array([[8], [7]], "int8"), np.arange(64, dtype="int8").reshape(8, 8)
ZEROS = np.zeros((2, 1), "float32")


@pytest.mark.parametrize(
    ("first", "value", "of_clone", "is_fresh"),
    [
        pytest.param(FLOATS, FLOATS, FLOATS, False, id="drawn-alike"),
        pytest.param(ZEROS, ZEROS, ZEROS, True, id="zeros"),
        pytest.param(FEW, FEW, FEW, True, id="few-whole-numbers"),
        pytest.param(MANY, MANY, MANY, False, id="many-whole-numbers"),
        pytest.param(ZEROS, FLOATS, FLOATS, False, id="copied"),
    ],
)
def test_a_weight_that_begins_as_another_did_was_copied_or_is_chance(
    first: Any, value: Any, of_clone: Any, is_fresh: bool
) -> None:
    original, clone, kept = ({"initial": [first]}, {"initial": [of_clone]}, {"values": [value]})
    models: Any = [SimpleNamespace(**attributes) for attributes in (original, kept, clone)]
    assert fresh(*models, repeats=True) == [is_fresh]


@pytest.mark.parametrize("limit", [0, 100, 1 << 20], ids=["none", "few", "all"])
def test_equal_arrays_have_equal_digests_and_others_not(limit: int) -> None:
    digests = Digests(limit)
    one = np.array([1.0, np.nan] + [2.0] * 98, np.float32)
    other_nan = one.copy()
    other_nan.view(np.uint32)[1] ^= 1
    assert digests.digest(one) == digests.digest(other_nan) == digests.digest(one[::-1][::-1]) == Digests().digest(one)
    different = [one.astype(np.float64), one.reshape(2, 50), one + 1, np.array([-0.0]), np.array([0.0])]
    assert len({digests.digest(array) for array in [one, *different]}) == 6


def test_a_difference_tells_the_first_element_of_arrays_that_there_is_room_for() -> None:
    digests = Digests(limit=1000)
    left, right = np.array([[1.0, 2.0], [3.0, np.nan]]), np.array([[1.0, 2.5], [3.0, np.nan]])
    report = digests.difference(digests.digest(left), digests.digest(right))
    assert (report["count"], report["max_abs"], report["first"], report["values"]) == (1, 0.5, [0, 1], ["2.0", "2.5"])
    for number in range(50):
        large = digests.digest(np.full(60, number, np.float32))
    small = digests.digest(np.zeros(2, np.float32))
    assert digests.difference(small, large) == {"missing": [large]}


@pytest.mark.parametrize("size", [3, 1 << 19], ids=["small", "large"])
def test_arrays_are_the_same_bit_for_bit(size: int) -> None:
    array, holes = np.linspace(0, 1, size, dtype=np.float32), np.full(size, np.nan, np.float32)
    assert same(array, array.copy())
    assert same(holes, holes.copy())
    changed = array.copy()
    changed[-1] = -changed[-1]
    for other in (array.astype(np.float64), array.reshape(1, -1), changed):
        assert not same(array, other)
    assert not same(np.zeros(size, np.float32), -np.zeros(size, np.float32))


# -- texts


def test_structures_keep_lists_tuples_and_dicts_apart() -> None:
    assert numbered({"b": [1, (2,)], "a": None}) == ({"dict": [["b", [0, {"tuple": [1]}]], ["a", None]]}, [1, 2])


def multiplies(by: float) -> Any:
    return lambda x: x * by


def normal(seed: int) -> Any:
    """Its seed generator has a counted name."""
    return keras.initializers.RandomNormal(seed=keras.random.SeedGenerator(seed)).get_config()


LAMBDA, ACTIVATION = {"class_name": "__lambda__", "config": {"code": "4wE"}}, {"value": ("4wE", None, None)}
ALIKE = {
    "functions": (multiplies(2.0), multiplies(2.0)),
    "the order of keys": ({"b": 1, "a": 2}, {"a": 2, "b": 1}),
    "seed generators": (normal(3), normal(3)),
    "objects, but for their addresses": (object(), object()),
    "lambdas that stand elsewhere": ({"a": LAMBDA}, {"a": ACTIVATION}),
}
UNLIKE = {
    "closures": (multiplies(2.0), multiplies(3.0)),
    "code": (lambda x: x + 1, lambda x: x + 2),
    "sequences": ((1, 2), [1, 2]),
    "numbers": (1, 1.0),
    "bools": (True, 1),
    "None": (None, "None"),
    "arrays": (np.zeros(2), np.ones(2)),
    "seeds": (normal(3), normal(4)),
    "the end of what is long": ("x" * 500, "x" * 501),
}


@pytest.mark.parametrize(("left", "right"), ALIKE.values(), ids=ALIKE)
def test_texts_of_equal_values_are_the_same(left: object, right: object) -> None:
    assert text(left) == text(right)


@pytest.mark.parametrize(("left", "right"), UNLIKE.values(), ids=UNLIKE)
def test_texts_of_unlike_values_differ(left: object, right: object) -> None:
    assert entry(left) != entry(right)
    assert max(len(entry(left)), len(entry(right))) <= LONGEST
