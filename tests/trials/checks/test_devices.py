"""Two devices: values within the tolerance of their dtype agree, and nothing else does."""

from __future__ import annotations

import math

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clonediff.harness.subjects.observation import Answer, Clone
from clonediff.harness.trials.checks.devices import NARROW, Elements, Terms, beyond, devices
from clonediff.harness.trials.checks.tolerance import TOLERANCE, coarser, tolerance

from .making import altered, chain

ORIGINAL = chain("Dense", "LSTM")
FIRST = Answer(original=ORIGINAL, clones={"fixed": Clone(observation=ORIGINAL)})


def answer(path: str, value: object) -> Answer:
    return altered(FIRST, (path, value))


def values(expected: Elements, found: Elements) -> object:
    return lambda _one, _other: (expected, found)


def test_the_same_answers_have_no_differences() -> None:
    assert devices(FIRST, FIRST, lambda _one, _other: None) == []


@pytest.mark.parametrize(("found", "paths"), [(1.0 + 1e-6, []), (1.1, ["original.inference.outputs[0]"])])
def test_values_are_compared_within_a_tolerance(found: float, paths: list[str]) -> None:
    second = answer("original.inference.outputs.0.digest", "other")
    differences = devices(FIRST, second, values([1.0], [found]))  # type: ignore[arg-type]  # a function of two digests
    assert [one.path for one in differences] == paths
    assert {one.check for one in differences} <= {"device"}


def test_a_difference_names_the_first_step_where_the_devices_part() -> None:
    second = altered(
        FIRST,
        ("clones.fixed.observation.inference.steps.1.outputs.0.digest", "x"),
        ("clones.fixed.observation.inference.outputs.0.digest", "x"),
    )
    found = devices(FIRST, second, values([1.0, 2.0], [1.0, 3.0]))  # type: ignore[arg-type]  # likewise
    assert {one.first.kind for one in found if one.first} == {"Dense"}
    assert found[0].numbers is not None
    assert (found[0].numbers.max_abs, found[0].numbers.index) == (1.0, (0, 1))


@pytest.mark.parametrize(
    ("path", "value", "aspect"),
    [
        ("original.inference.outputs.0.dtype", "float16", "dtype"),
        ("original.inference.outputs.0.shape", [1], "shape"),
        ("original.inference.outputs.0.mask", "m", "mask"),
        ("original.inference.outputs", [], "count"),
        ("original.inference.failure", {"type": "E", "message": ""}, "raises"),
        ("clones.fixed.observation", None, "made"),
        ("original.inference.outputs.0.digest", "gone", "value unknown"),
    ],
)
def test_everything_else_is_exact(path: str, value: object, aspect: str) -> None:
    assert aspect in {one.aspect for one in devices(FIRST, answer(path, value), lambda _one, _other: None)}


def close(one: float, other: float, dtype: str) -> bool:
    return beyond([one], [other], dtype=dtype, shape=(1,)) is None


@given(value=st.floats(allow_nan=False, allow_infinity=False, width=32), dtype=st.sampled_from([*TOLERANCE, "int32"]))
def test_a_value_is_close_to_itself_and_to_no_nan(value: float, dtype: str) -> None:
    assert close(value, value, dtype)
    assert not close(value, math.nan, dtype)
    assert not close(value, math.inf, dtype)


def test_zero_means_zero() -> None:
    assert tolerance("int64") == tolerance("bool") == tolerance("string") == (0.0, 0.0)
    assert not close(1.0, 1.0 + 1e-9, "int64")
    assert close(math.nan, math.nan, "float32")
    assert close(math.inf, math.inf, "float32")
    assert not close(math.inf, -math.inf, "float32")


def test_numbers_that_are_close_are_so_in_either_part() -> None:
    told = beyond([1j, 2 + 3j], [1.00001j, 2 + 3.1j], dtype="complex64", shape=(2,))
    assert told is not None
    assert (told.differing, told.index, round(told.max_abs or 0, 5)) == (1, (1,), 0.1)
    told = beyond([True, False], [True, True], dtype="bool", shape=(None, 2))
    assert told is not None
    assert told.index == (1,), "of a shape that is open it is the number of the element"


@pytest.mark.parametrize(
    ("one", "other", "dtype"),
    [
        ((2**63, 2**53 + 1), (2**63, 2**53), "uint64"),
        ((1j, complex(math.nan, 1)), (1j, complex(math.nan, 5)), "complex64"),
        ((1j, complex(1e6, 0.001)), (1j, complex(1e6, 5)), "complex64"),
        (("a", "b"), ("a", "b\0"), "string"),
    ],
)
def test_two_elements_differ_however_large_or_alike_the_rest_is(
    one: tuple[complex | str, ...], other: tuple[complex | str, ...], dtype: str
) -> None:
    told = beyond(one, other, dtype=dtype, shape=(2,))
    assert told is not None
    assert (told.differing, told.index) == (1, (1,))
    assert beyond(one, one, dtype=dtype, shape=(2,)) is None


@pytest.mark.parametrize("step", ["float32", "bfloat16", "int64", "float64"])
def test_a_number_is_no_finer_than_what_it_was_computed_from(step: str) -> None:
    assert ORIGINAL.inference is not None
    paths = [f"original.inference.steps.{number}" for number in range(len(ORIGINAL.inference.steps))]
    dtypes = [(f"{path}.outputs.0.dtype", "float64") for path in [*paths, "original.inference"]]
    first = altered(FIRST, (f"{paths[0]}.outputs.0.dtype", step), *dtypes[1:])
    second = altered(first, ("original.inference.outputs.0.digest", "other"))
    found = devices(first, second, values([1.0], [1.0 + 1e-6]))  # type: ignore[arg-type]  # a function of two digests
    assert bool(found) is (step in {"int64", "float64"})


def test_an_integer_stays_exact_whatever_it_was_computed_from() -> None:
    assert coarser("int64", "bfloat16") == "int64"
    assert coarser("float64", "float32") == coarser("float32", "float64") == "float32"
    assert tolerance("SparseTensor:float32") == tolerance("float32")
    assert beyond([2**53], [2**53 + 1], dtype="int64", shape=(1,)) is not None


def test_weights_that_differ_are_all_that_is_told() -> None:
    assert ORIGINAL.copied_weights
    second = altered(FIRST, ("original.copied_weights.0", "other"), ("original.inference.outputs", []))
    (told,) = devices(FIRST, second, lambda _one, _other: None)
    assert (told.path, told.aspect, told.found) == ("original.weights[0]", "weight", "other")
    assert told.first is not None
    assert told.first.kind == "Dense"
    fewer = altered(FIRST, ("original.copied_weights", []))
    assert [one.aspect for one in devices(FIRST, fewer, lambda _one, _other: None)] == ["weight count"]


def test_numbers_of_text_and_nan() -> None:
    told = beyond(["a", "b"], ["a", "c"], dtype="string", shape=(2,))
    assert told is not None
    assert (told.max_abs, told.differing, told.index, told.found) == (None, 1, (1,), "c")
    told = beyond([1.0, math.nan], [1.0, 2.0], dtype="float32", shape=(2, 1))
    assert told is not None
    assert (told.max_abs, told.index) == (None, (1, 0))


BACKENDS = Terms("backend", ("inference",), ({}, NARROW["jax"]))


def test_between_backends_the_check_has_their_name() -> None:
    second = answer("original.inference.outputs.0.digest", "other")
    told = devices(FIRST, second, values([1.0], [1.1]), BACKENDS)  # type: ignore[arg-type]  # a function of two digests
    assert {one.check for one in told} == {"backend"}


@pytest.mark.parametrize(
    ("mine", "theirs", "told"),
    [
        ("float64", "float32", []),
        ("float64", "float64", []),
        ("float64", "float16", ["dtype"]),
        ("float32", "float16", ["dtype"]),
        ("int64", "float32", ["dtype"]),
    ],
)
def test_a_backend_that_has_32_bits_may_give_them(mine: str, theirs: str, told: list[str]) -> None:
    first = answer("original.inference.outputs.0.dtype", mine)
    second = altered(
        first, ("original.inference.outputs.0.dtype", theirs), ("original.inference.outputs.0.digest", "x")
    )
    close_by = values([1.0], [1.0 + 1e-7])
    found = devices(first, second, close_by, BACKENDS)  # type: ignore[arg-type]  # a function of two digests
    assert [one.aspect for one in found] == told
    strict = devices(first, second, close_by)  # type: ignore[arg-type]  # likewise
    assert [one.aspect for one in strict] == ([] if mine == theirs else ["dtype"])


def test_steps_of_a_layer_that_one_side_calls_more_often_are_not_compared() -> None:
    assert ORIGINAL.inference is not None
    more = [*ORIGINAL.inference.steps[:1], *ORIGINAL.inference.steps]
    changed = [
        msgspec.structs.replace(
            step, use=number, outputs=tuple(msgspec.structs.replace(leaf, digest="x") for leaf in step.outputs)
        )
        for number, step in enumerate(more[:2])
    ]
    steps = [msgspec.to_builtins(step) for step in [*changed, *more[2:]]]
    second = answer("original.inference.steps", steps)
    apart = values([1.0], [2.0])
    assert devices(FIRST, second, apart, BACKENDS) == []  # type: ignore[arg-type]  # a function of two digests
    output = altered(second, ("original.inference.outputs.0.digest", "x"))
    found = devices(FIRST, output, apart, BACKENDS)  # type: ignore[arg-type]  # likewise
    assert [one.path for one in found] == ["original.inference.outputs[0]"]


def test_weights_of_64_bits_are_compared_by_their_numbers() -> None:
    assert ORIGINAL.shape.weights
    wide = altered(FIRST, ("original.shape.weights.0.dtype", "float64"))
    second = altered(wide, ("original.copied_weights.0", "other"))
    assert devices(wide, second, values([1.5], [1.5]), BACKENDS) == []  # type: ignore[arg-type]  # of two digests
    told = devices(wide, second, values([1.5], [1.25]), BACKENDS)  # type: ignore[arg-type]  # likewise
    assert [one.aspect for one in told] == ["weight"]
