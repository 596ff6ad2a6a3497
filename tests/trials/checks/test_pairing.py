"""Who answers to whom: nothing is dropped, nothing is paired twice, and what stayed the same keeps its counterpart."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from clonediff.harness.subjects.observation import Clone, Variable
from clonediff.harness.trials.checks.flow import Flow
from clonediff.harness.trials.checks.pairing import Pair, full_name, pair, pair_layers
from clonediff.harness.trials.checks.places import place
from clonediff.harness.trials.checks.skeletons import unlike
from clonediff.reports.records import Place

from .making import altered, chain, faithful, gives, layer, observed

keys = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2)), max_size=8)


@given(expected=keys, found=keys)
def test_each_is_paired_once_or_named_as_missing_or_extra(
    expected: list[tuple[int, int]], found: list[tuple[int, int]]
) -> None:
    pairing = pair(expected, found)
    assert sorted([*(one for one, _ in pairing.pairs), *pairing.missing]) == list(range(len(expected)))
    assert sorted([*(other for _, other in pairing.pairs), *pairing.extra]) == list(range(len(found)))
    left = {key for index in pairing.missing for key in expected[index]}
    assert not any(
        expected[m][level] == found[e][level] for m in pairing.missing for e in pairing.extra for level in (0, 1)
    )
    assert left is not None


@given(expected=st.lists(st.tuples(st.integers()), unique=True, max_size=8), data=st.data())
def test_what_only_moved_keeps_its_counterpart(expected: list[tuple[int]], data: st.DataObject) -> None:
    found = data.draw(st.permutations(expected))
    pairing = pair(expected, found)
    assert all(expected[one] == found[other] for one, other in pairing.pairs)
    assert bool(pairing.moved) == (expected != found)


def test_a_missing_one_moves_no_other() -> None:
    assert pair([("a",), ("b",), ("c",)], [("b",), ("c",)]).moved == ()


def test_layers_are_paired_within_what_holds_them() -> None:
    inner = [layer("input", "InputLayer", 0), layer("m", "Functional", 1), layer("d", "Dense", 2, inside=1)]
    outer = layer("d", "Dense", 3)
    original, clone = observed([*inner, outer], [3]).shape, observed([inner[0], outer, inner[1], _in(2)], [1]).shape
    assert pair_layers(original, clone).pairs == ((0, 0), (1, 2), (2, 3), (3, 1))
    assert full_name(original, 2) == "m/d"


def test_calls_that_moved_are_known_by_their_arguments_and_so_are_those_after_them() -> None:
    shared = layer("s", "Dense", 3, gives([1, 0, 0]), gives([2, 0, 0]))
    after = layer("t", "Dense", 4, gives([3, 0, 0]), gives([3, 1, 0]))
    ends = [layer("input", "InputLayer", 0), *(layer(n, "Dense", ord(n), gives([0, 0, 0])) for n in "ab")]
    original = observed([*ends, shared, after], [4])
    clone = altered(faithful(original), ("observation.shape.layers.3.calls", list(reversed(shared.calls))))
    clone = altered(clone, ("observation.shape.layers.4.calls", [gives([3, 1, 0]), gives([3, 0, 0])]))
    calls = Pair(original, clone).calls
    assert calls[3].pairs == ((0, 1), (1, 0))
    assert calls[4].pairs == ((0, 0), (1, 1))


def test_calls_that_moved_are_known_by_their_plain_arguments_where_their_tensors_are_new() -> None:
    shared = layer("s", "Dense", 1, gives([0, 0, 0], kwargs={"by": 1.0}), gives([0, 0, 0]))
    original = observed([layer("input", "InputLayer", 0), shared], [1])
    moved = [gives([2, 0, 0]), gives([2, 0, 0], kwargs={"by": 1.0})]
    calls = Pair(original, altered(faithful(original), ("observation.shape.layers.1.calls", moved))).calls
    assert calls[1].pairs == ((0, 1), (1, 0))


def test_values_come_from_before_and_through_what_holds_them() -> None:
    layers = [
        layer("input", "InputLayer", 0),
        layer("first", "Dense", 1, gives([0, 0, 0])),
        layer("inner", "Functional", 2, gives([1, 0, 0])),
        layer("x", "InputLayer", 3, inside=2),
        layer("within", "Dense", 4, gives([3, 0, 0]), inside=2),
        layer("last", "Dense", 5, gives([2, 0, 0])),
        layer("aside", "Dense", 6, gives([0, 0, 0])),
    ]
    original = observed(layers, [5])
    flow = Flow.of(original)
    reaches = {
        (one, other)
        for one in range(7)
        for other in range(7)
        if flow.reaches(place(original.shape, one), place(original.shape, other))
    }
    assert {other for one, other in reaches if one == 1} == {1, 2, 3, 4, 5}
    assert {other for one, other in reaches if one == 4} == {2, 4, 5}
    assert {one for one, other in reaches if other == 6} == {0, 6}
    of_the_clone = Place("more", "Dense", len(layers))
    assert not flow.reaches(place(original.shape, 0), of_the_clone)


def test_a_model_without_differences_pairs_with_itself() -> None:
    original = chain("Dense", "Dense")
    assert Pair(original, Clone(observation=original)).layers.pairs == ((0, 0), (1, 1), (2, 2))


nested = st.recursive(
    st.none() | st.integers(0, 2) | st.text("ab", max_size=2),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(lambda items: {"tuple": items})
        | st.dictionaries(st.sampled_from("xyz"), inner, max_size=3).map(
            lambda items: {"dict": [[key, item] for key, item in items.items()]}
        )
    ),
    max_leaves=8,
)


@given(one=nested, other=nested)
def test_skeletons_differ_somewhere_exactly_if_they_are_not_equal(one: object, other: object) -> None:
    assert bool(list(unlike(one, other))) == (one != other)
    assert len(list(unlike(one, other))) == len(list(unlike(other, one)))


def test_a_list_for_a_tuple_is_a_type_and_an_order_of_keys_an_order() -> None:
    assert [one.aspect for one in unlike({"tuple": [1]}, [1])] == ["type"]
    assert [one.aspect for one in unlike({"dict": [["a", 1], ["b", 2]]}, {"dict": [["b", 2], ["a", 1]]})] == ["order"]
    assert [(one.path, one.aspect) for one in unlike({"dict": [["a", [1, 2]]]}, {"dict": [["a", [1]]]})] == [
        ("['a'][1]", "missing")
    ]


def _in(index: int) -> object:
    return layer("d", "Dense", 2, inside=index)


def test_a_variable_of_no_layer_answers_to_the_one_of_no_layer() -> None:
    # What a compiled model counts its loss with is owned by none of its layers.
    loss = Variable("loss/total", -1, (), "float32", False, 600, "zero")
    whole = chain("Dense")
    original = replace(whole, shape=replace(whole.shape, states=(*whole.shape.states, loss)))
    clone = replace(original, shape=replace(original.shape, states=(*whole.shape.states, replace(loss, ident=900))))
    _, (*_, pairing) = Pair(original, Clone(observation=clone)).variables
    assert (pairing.pairs, pairing.missing, pairing.extra) == (((0, 0), (1, 1)), (), ())


def test_weights_of_other_scopes_and_shapes_answer_to_those_of_their_names() -> None:
    whole = chain("LSTM")
    old = tuple(replace(one, name=f"rnn/cell/{one.name}") for one in whole.shape.weights)
    new = tuple(replace(one, name=one.name.removeprefix("rnn/")) for one in old)
    shapes = zip(new, ((3, 1), (3, 3)), strict=True)
    original = replace(whole, shape=replace(whole.shape, weights=old))
    clone = replace(whole, shape=replace(whole.shape, weights=tuple(replace(one, shape=its) for one, its in shapes)))
    assert Pair(original, Clone(observation=clone)).weights.pairs == ((0, 0), (1, 1))
    swapped = replace(clone, shape=replace(clone.shape, weights=clone.shape.weights[::-1]))
    assert Pair(original, Clone(observation=swapped)).weights.pairs == ((0, 1), (1, 0))
