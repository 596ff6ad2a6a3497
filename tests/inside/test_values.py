"""Numbers, digests and texts: no Keras."""

from __future__ import annotations

import numpy as np
import pytest

from clonediff.harness.inside.canonical import LONGEST, entry, text
from clonediff.harness.inside.digests import Digests, same
from clonediff.harness.inside.structure import numbered
from clonediff.harness.inside.values import FILLS, input_arrays, weight_arrays


def test_fills_are_the_same_for_a_seed_and_differ_between_seeds() -> None:
    specs = [{"shape": [None, 4], "dtype": "float32", "fill": "normal"}]
    first, again, other = (input_arrays(specs, 2, seed)[0] for seed in (1, 1, 2))
    assert first.shape == (2, 3, 4)
    assert (first == again).all()
    assert (first != other).any()


@pytest.mark.parametrize("seed", range(20))
def test_steps_have_zero_rows_and_never_the_first(seed: int) -> None:
    (values,) = input_arrays([{"shape": [4, 3], "dtype": "float32", "fill": "steps"}], 2, seed)
    zero = (values == 0).all(axis=-1)
    assert zero.any()
    assert not zero[:, 0].any()
    assert (zero[:, :-1] & ~zero[:, 1:]).any(), "one that is not at the end"


@pytest.mark.parametrize("seed", range(20))
def test_masks_have_a_true_in_each_row(seed: int) -> None:
    (values,) = input_arrays([{"shape": [4], "dtype": "bool", "fill": "mask"}], 3, seed)
    assert values.any(axis=1).all()
    assert not values.all()


def test_ids_stay_below_their_bound() -> None:
    (values,) = input_arrays([{"shape": [5], "dtype": "int32", "fill": "ids", "high": 4, "batch": 7}], 2, 3)
    assert values.shape == (7, 5)
    assert set(np.unique(values)) <= {0, 1, 2, 3}
    assert (values == 0).any()


def test_an_unknown_fill_is_named() -> None:
    with pytest.raises(ValueError, match="unknown fill 'sand'.*normal"):
        input_arrays([{"shape": [5], "dtype": "int32", "fill": "sand"}], 2, 3)


@pytest.mark.parametrize("name", sorted(FILLS))
def test_every_fill_takes_a_shape_without_dimensions(name: str) -> None:
    dtype = {"words": "string", "mask": "bool", "ids": "int32"}.get(name, "float32")
    (values,) = input_arrays([{"shape": [], "dtype": dtype, "fill": name}], 2, 3)
    assert values.shape == (2,)


def test_weights_are_distinct_and_variances_positive() -> None:
    kernel, count, variance = weight_arrays(
        [("kernel", (2, 3), "float32"), ("count", (), "int32"), ("moving_variance", (50,), "float32")], 4
    )
    assert len(np.unique(kernel)) == 6
    assert count is None
    assert (variance >= 0.5).all()
    assert (variance <= 1.5).all()


def test_equal_arrays_have_equal_digests_and_others_not() -> None:
    digests = Digests()
    one = np.array([1.0, np.nan], np.float32)
    other_nan = one.copy()
    other_nan.view(np.uint32)[1] ^= 1
    assert digests.digest(one) == digests.digest(other_nan) == Digests().digest(one)
    different = [
        one.astype(np.float64),
        one.reshape(2, 1),
        np.array([1.0, 2.0], np.float32),
        np.array([-0.0]),
        np.array([0.0]),
    ]
    assert len({digests.digest(each) for each in [one, *different]}) == 6


def test_arrays_are_kept_within_a_size() -> None:
    digests = Digests(limit=100)
    small, large = np.zeros(10, np.float32), np.zeros(100, np.float32)
    names = digests.digest(small), digests.digest(large)
    assert digests.difference(names[0], names[1]) == {"missing": [names[1]]}


def test_difference_tells_the_first_element() -> None:
    digests = Digests()
    left, right = np.array([[1.0, 2.0], [3.0, np.nan]]), np.array([[1.0, 2.5], [3.0, np.nan]])
    report = digests.difference(digests.digest(left), digests.digest(right))
    assert (report["count"], report["max_abs"], report["first"], report["values"]) == (1, 0.5, [0, 1], ["2.0", "2.5"])


def test_structures_keep_lists_tuples_and_dicts_apart() -> None:
    assert numbered({"b": [1, (2,)], "a": None}) == ({"dict": [["b", [0, {"tuple": [1]}]], ["a", None]]}, [1, 2])


def test_functions_are_known_by_what_they_do() -> None:
    def made(by: float) -> object:
        return lambda x: x * by

    assert text(made(2.0)) == text(made(2.0))
    assert text(made(2.0)) != text(made(3.0))
    assert text(lambda x: x + 1) != text(lambda x: x + 2)


@pytest.mark.parametrize(
    ("left", "right"),
    [((1, 2), [1, 2]), (1, 1.0), (True, 1), ("1", 1), (None, "None"), (np.zeros(2), np.ones(2))],
    ids=repr,
)
def test_texts_of_unlike_values_differ(left: object, right: object) -> None:
    assert text(left) != text(right)


def test_texts_have_no_addresses_and_end() -> None:
    assert "0x7" not in text(object())
    long = [entry("x" * 500), entry("x" * 501)]
    assert len(set(long)) == 2
    assert max(map(len, long)) <= LONGEST
    assert text({"b": 1, "a": 2}) == text({"a": 2, "b": 1})


def test_a_large_array_is_told_by_the_digest_that_a_small_one_of_its_numbers_has() -> None:
    array = np.arange(1000, dtype=np.float32)
    array[3] = np.nan
    other = array.copy()
    other.view(np.uint32)[3] |= 1
    names = {Digests(limit=limit).digest(each) for limit in (0, 1 << 20) for each in (array, other, array[::-1][::-1])}
    assert len(names) == 1
    assert Digests(limit=0).digest(array + 1) not in names


def test_large_arrays_of_one_digest_are_equal_to_the_last_element() -> None:
    digests = Digests(limit=0)
    arrays = [np.zeros(5000, np.float32) for _ in range(3)]
    arrays[1][4999], arrays[2][1] = 1, 1
    names = [digests.digest(each) for each in arrays]
    arrays[0][7] = 1  # whoever owns an array may write into it
    assert [digests.digest(each) for each in arrays[1:]] == names[1:]
    assert len({*names, digests.digest(arrays[0])}) == 4
    assert digests.digest(np.zeros(5000, np.float32)) == names[0] == Digests(limit=0).digest(np.zeros(5000, np.float32))


def test_small_arrays_find_room_beside_large_ones() -> None:
    digests = Digests(limit=1000)
    for number in range(50):
        digests.digest(np.full(60, number, np.float32))
    names = [digests.digest(np.full(2, number, np.float32)) for number in (0, 1)]
    assert "missing" not in digests.difference(*names)


@pytest.mark.parametrize("size", [3, 1 << 19], ids=["small", "large"])
def test_arrays_are_the_same_bit_for_bit(size: int) -> None:
    array = np.linspace(0, 1, size, dtype=np.float32)
    holes = np.full(size, np.nan, np.float32)
    assert same(array, array.copy())
    assert same(holes, holes.copy())
    assert not same(array, array.astype(np.float64))
    assert not same(array, array.reshape(1, -1))
    changed = array.copy()
    changed[-1] = -changed[-1]
    assert not same(array, changed)
    assert not same(np.zeros(size, np.float32), -np.zeros(size, np.float32))


@pytest.mark.parametrize(
    "written",
    [{"class_name": "__lambda__", "config": {"code": "4wEAAA"}}, {"value": ("4wEAAA", None, None)}],
    ids=["of a Lambda", "of an activation"],
)
def test_the_bytes_of_a_lambda_tell_where_it_stands_and_are_not_compared(written: dict[str, object]) -> None:
    assert text({"activation": written}) == "{activation: <lambda>}"
    assert text({"value": [1, 2, 3]}) != "<lambda>"
