"""Causes: what follows from what, and whose fault it is."""

from __future__ import annotations

import random
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from clonediff.harness.subjects.case import Case
from clonediff.harness.subjects.observation import CallSeen, Clone, Failure, Observation
from clonediff.harness.trials.checks import compare
from clonediff.harness.trials.checks.roots import roots
from clonediff.harness.trials.triage import (
    Verdict,
    alike,
    causes,
    fingerprint,
    in_graph,
    verdict,
    with_blame,
)
from clonediff.reports.records import Blame, Cause, Difference, Place, Raised, Severity

from .checks.making import altered, chain, faithful, gives, layer, observed, renumbered
from .differences import RAISING

S, R, T = "observation.shape", "observation.inference", "observation.training"
ORIGINAL = chain("Masking", "Lambda", "LSTM", "Dense")


def broken(original: Observation, *changes: tuple[str, Any]) -> list[Cause]:
    return causes(original, compare(original, altered(faithful(original), *changes)))


def values(*steps: int, run: str = R) -> list[tuple[str, Any]]:
    """Other values at these steps, and at the output."""
    return [*[(f"{run}.steps.{step}.outputs.0.digest", "x") for step in steps], (f"{run}.outputs.0.digest", "x")]


def told(cause: Cause) -> tuple[str, str, str]:
    first = cause.root.first
    return cause.root.check, cause.root.aspect, first.kind if first else ""


def test_an_lstm_that_differs_after_a_lambda_lost_its_mask_follows_from_the_lambda() -> None:
    lost = [(f"{R}.steps.{step}.outputs.0.mask", None) for step in (2, 3, 4)]
    (cause,) = broken(ORIGINAL, *lost, (f"{R}.outputs.0.mask", None), *values(3, 4), *values(3, 4, run=T))
    assert told(cause) == ("masks", "mask lost", "Lambda")
    assert cause.severity is Severity.COMPUTES
    assert {one.check for one in cause.followers} == {"masks", "outputs"}


def test_an_output_of_another_shape_follows_from_a_call_that_is_missing() -> None:
    twice = observed([*(layer(each, "ReLU", at, gives([0, 0, 0])) for at, each in enumerate("ab"))], [1])
    lost = replace(twice.shape.layers[0], calls=(*twice.shape.layers[0].calls, gives([1, 0, 0])))
    original = replace(twice, shape=replace(twice.shape, layers=(lost, twice.shape.layers[1])))
    (cause,) = broken(
        original, (f"{S}.layers.0.calls", twice.shape.layers[0].calls), (f"{S}.outputs.0.shape", (None, 5))
    )
    assert told(cause) == ("structure", "call count", "ReLU")


def test_a_config_explains_what_its_layer_and_those_after_it_do() -> None:
    (cause,) = broken(
        ORIGINAL,
        (f"{S}.layers.2.config.mask", "{}"),
        (f"{R}.steps.2.outputs.0.mask", None),
        *values(3, 4),
        ("observation.trained.loss", "x"),
        ("observation.saved.run.outputs.0.digest", "x"),
    )
    assert told(cause) == ("structure", "config.mask", "Lambda")


def test_an_input_that_is_optional_no_more_explains_no_number() -> None:
    found = broken(ORIGINAL, (f"{S}.layers.0.config.optional", "False"), *values(3, 4))
    assert {told(cause) for cause in found} == {
        ("structure", "config.optional", "InputLayer"),
        ("outputs", "value", "LSTM"),
    }


def test_a_tensor_of_the_original_explains_that_a_clone_asks_for_an_input_of_the_original() -> None:
    given = Difference(
        "structure",
        "layers['lstm_3'].calls[0].kwargs['mask']",
        "call.kwargs type",
        '{"tensor": "input_0#0.0"}',
        '{"outside": "bool (?, 1)"}',
        Severity.PROPERTY,
        Place("lstm_3", "LSTM", 3),
    )
    asked = Difference(
        "outputs",
        "inference",
        "raises",
        "it runs",
        "InvalidArgumentError: You must feed a value",
        Severity.CRASHES,
        Place("input_0", "InputLayer", 0),
        Raised("InvalidArgumentError", "", "session.py:_do_call"),
    )
    (cause,) = causes(ORIGINAL, [asked, given])
    assert cause.root == given


def test_a_list_that_is_a_tensor_explains_what_an_attention_makes_for_the_rank_it_is_called_on() -> None:
    attention = layer("attention", "MultiHeadAttention", 2, gives([1, 0, 0]))
    query = layer("query", "EinsumDense", 3, inside=2)
    listed = replace(
        layer("sum", "SumList", 1, gives([0, 0, 0])), calls=(CallSeen([[{"tensor": [0, 0, 0]}]], {}, 1, (False,)),)
    )
    original = observed([layer("input", "InputLayer", 0), listed, attention, query], [2], masks=False)
    equation, form = (f"{S}.layers.3.config.equation", "ab"), (f"{S}.layers.1.calls.0.args.0", {"tensor": [0, 0, 0]})
    (cause,) = broken(original, form, equation)
    assert told(cause) == ("structure", "call.args type", "SumList")
    assert {told(each) for each in broken(original, form, (f"{S}.layers.2.config.units", "4"))} == {
        ("structure", "call.args type", "SumList"),
        ("structure", "config.units", "MultiHeadAttention"),
    }


def test_the_mask_of_a_lambda_explains_the_mask_that_a_model_is_called_with() -> None:
    called = replace(
        layer("inner", "Functional", 2, gives([1, 0, 0])), calls=(gives([1, 0, 0], kwargs={"mask": None}),)
    )
    original = observed([layer("input", "InputLayer", 0), layer("f", "Lambda", 1, gives([0, 0, 0])), called], [2])
    lost = (f"{S}.layers.1.config.mask", "{}"), (f"{S}.layers.2.calls.0.kwargs.mask", {"value": "{}"})
    (cause,) = broken(original, *lost)
    assert told(cause) == ("structure", "config.mask", "Lambda")


def test_a_seed_that_is_lost_explains_what_any_other_layer_draws_and_nothing_else() -> None:
    lost = (f"{S}.layers.2.config.seed", "None")
    (cause,) = broken(ORIGINAL, lost, (f"{T}.steps.1.outputs.0.digest", "x"))
    assert told(cause) == ("structure", "config.seed", "Lambda")
    assert len(broken(ORIGINAL, lost, (f"{R}.steps.1.outputs.0.digest", "x"))) == 2


def test_a_clone_on_the_models_own_inputs_explains_what_is_wrong_with_its_inputs() -> None:
    mine = renumbered(ORIGINAL, 5000)
    asked = replace(ORIGINAL, cloned=mine.shape, keeps="layers")
    (cause,) = broken(
        asked,
        (f"{S}.layers.0.ident", mine.shape.layers[0].ident),
        (f"{S}.layers.0.name", "another"),
        (f"{S}.inputs.0.shape", (2, 3)),
        (f"{S}.layers.3.ident", mine.shape.layers[3].ident),
    )
    assert told(cause) == ("own", "layer shared", "InputLayer")
    assert {each.aspect for each in cause.followers} >= {"name", "input shape"}
    assert broken(replace(asked, keeps="everything"), (f"{S}.layers.0.ident", mine.shape.layers[0].ident)) == []
    kept = replace(asked, cloned=ORIGINAL.shape)
    assert broken(kept, (f"{S}.layers.0.ident", 0)) == [], "the model that is asked for is on these inputs, too"


def test_a_config_explains_nothing_before_it() -> None:
    found = broken(ORIGINAL, (f"{S}.layers.4.config.units", "4"), *values(2, 3))
    assert {told(cause) for cause in found} == {("structure", "config.units", "Dense"), ("outputs", "value", "Lambda")}


def test_a_model_that_is_not_frozen_explains_no_flag_of_its_layers() -> None:
    found = broken(ORIGINAL, (f"{S}.trainable", False), (f"{S}.layers.4.trainable", False), *values(4, run=T))
    assert [(cause.root.path, len(cause.followers)) for cause in found] == [
        ("layers['dense_4'].trainable", 2),
        ("model.trainable", 0),
    ]


def test_a_model_that_is_not_frozen_explains_weights_that_train() -> None:
    (cause,) = broken(ORIGINAL, (f"{S}.trainable", False), (f"{S}.weights.0.trainable", False))
    assert (cause.root.path, len(cause.followers)) == ("model.trainable", 1)


def test_a_lost_initializer_explains_what_its_weight_begins_with_and_that_explains_nothing() -> None:
    original = altered(ORIGINAL, ("begins", ["a constant"] * 4))
    begins = ("observation.begins", ["a constant", "another", "a constant", "another"])
    found = broken(
        original, begins, (f"{S}.layers.4.config.bias_initializer", "ones"), ("observation.trained.loss", "x")
    )
    assert sorted((told(cause)[:2], len(cause.followers)) for cause in found) == [
        (("own", "first value"), 0),
        (("structure", "config.bias_initializer"), 2),
    ]


def test_a_lost_regularizer_explains_nothing_that_a_weight_begins_with() -> None:
    original = altered(ORIGINAL, ("begins", ["", "", "", "a constant"]))
    begins = ("observation.begins", ["x", "x", "x", "another"])
    found = broken(original, begins, (f"{S}.layers.4.config.bias_regularizer", "l2"))
    assert {told(cause)[:2] for cause in found} == {("own", "first value"), ("structure", "config.bias_regularizer")}


def test_a_layer_that_was_called_once_more_used_what_others_gave() -> None:
    after = altered(ORIGINAL.shape, ("layers.4.nodes", [1, 0]), ("layers.3.nodes", [0, 1]))
    (cause,) = broken(ORIGINAL, ("original_after", after))
    assert (told(cause), len(cause.followers)) == (("untouched", "inbound nodes", "Dense"), 1)


def test_being_trainable_or_not_renames_no_weight() -> None:
    found = broken(ORIGINAL, (f"{S}.layers.4.trainable", False), (f"{S}.weights.2.name", "x"))
    assert {told(cause)[:2] for cause in found} == {("structure", "trainable"), ("weights", "weight name")}


def test_inputs_have_nothing_to_train() -> None:
    assert broken(ORIGINAL, (f"{S}.layers.0.trainable", False)) == []


def test_an_option_of_an_input_shows_where_the_input_is_an_output() -> None:
    (cause,) = broken(
        observed([layer("input", "InputLayer", 0)], [0]),
        (f"{S}.layers.0.config.optional", "False"),
        (f"{S}.inputs.0.optional", True),
        (f"{S}.outputs.0.optional", True),
    )
    assert told(cause) == ("structure", "config.optional", "InputLayer")


def test_an_optional_input_that_cannot_be_left_out_explains_that_nothing_runs_without_it() -> None:
    original = observed([layer("input", "InputLayer", 0)], [0])
    refused = Failure("ValueError", "The input 'x' is not optional, but None was passed.", ())
    found = broken(original, (f"{S}.layers.0.config.optional", "False"), ("observation.inference.failure", refused))
    assert [(told(cause), len(cause.followers)) for cause in found] == [
        (("structure", "config.optional", "InputLayer"), 1)
    ]


def test_a_call_on_something_else_explains_the_shape_of_an_output() -> None:
    (cause,) = broken(ORIGINAL, (f"{S}.layers.3.calls.0.args", [1]), (f"{S}.outputs.0.shape", [3]))
    assert told(cause) == ("structure", "call.args type", "LSTM")


def test_a_lost_tensor_explains_that_who_gave_it_is_called_no_more() -> None:
    ends = [layer("input", "InputLayer", 0), layer("d", "Dense", 1, gives([0, 0, 0]))]
    original = observed([*ends, layer("s", "SumAll", 2, gives([0, 0, 0], [1, 0, 0]))], [2])
    (cause,) = broken(original, (f"{S}.layers.2.calls", [gives([0, 0, 0])]), (f"{S}.layers.1.calls", []))
    assert told(cause) == ("structure", "call.args missing", "SumAll")


def test_another_tensor_explains_that_layers_come_in_another_order() -> None:
    """An operation that is called on a tensor further up has another depth, by which layers are sorted."""
    ends = [layer("input", "InputLayer", 0), layer("d", "Dense", 1, gives([0, 0, 0]))]
    original = observed(
        [*ends, layer("e", "Dense", 2, gives([1, 0, 0])), layer("f", "Dense", 3, gives([2, 0, 0]))], [3]
    )
    other = Difference(
        "structure", "p", "call.args tensor", "d#0.0", "input#0.0", Severity.PROPERTY, Place("e", "Dense", 2)
    )
    order = Difference(
        "structure", "model.layers", "layer order", "x", "y", Severity.PROPERTY, Place("m", "Model", -1, container=True)
    )
    assert roots(original, [order, other]) == [(other, [order])]


@pytest.mark.parametrize(
    ("raises_in", "calling", "given"),
    [
        (3, "a.py:call", ("a list of one tensor",)),
        (3, "", ()),  # not in a call: a layer that cannot be made, say
        (1, "a.py:call", ()),
        (-1, "a.py:call", ()),
        (None, "a.py:call", ("a list of one tensor",)),  # no layer is named: it may be any
        (None, "", ()),
    ],
)
@pytest.mark.parametrize("listed", [[{"tensor": [1, 0, 0]}], {"tuple": [{"tensor": [1, 0, 0]}]}], ids=["list", "tuple"])
def test_a_call_that_raises_tells_that_one_before_it_is_on_a_list_of_one(
    listed: Any, raises_in: int | None, calling: str, given: tuple[str, ...]
) -> None:
    first = [layer("input", "InputLayer", 0), layer("d", "Dense", 1, gives([0, 0, 0]))]
    summed = layer("s", "SumList", 2, replace(gives([1, 0, 0]), args=[listed]))
    original = observed([*first, summed, layer("r", "Reshape", 3, gives([2, 0, 0]))], [3])
    place = None if raises_in is None else Place("r", "Reshape", raises_in, container=raises_in < 0)
    fails = raising(place, calling)
    assert [cause.given for cause in causes(original, [fails], ("step",))] == [("step", *given)]


def test_a_list_of_several_is_no_list_of_one() -> None:
    two = replace(gives([0, 0, 0]), args=[[{"tensor": [0, 0, 0]}, {"tensor": [0, 0, 0]}]])
    original = observed([layer("input", "InputLayer", 0), layer("s", "SumList", 1, two)], [1])
    assert [cause.given for cause in causes(original, [raising(Place("s", "SumList", 1), "a.py:call")])] == [()]


@pytest.mark.parametrize(
    ("used", "calling", "given"),
    [
        ([2], "a.py:call", ("an inner input that no layer uses",)),
        ([2], "", ()),
        ([2, 3], "a.py:call", ()),
    ],
    ids=["idle", "not in a call", "both are used"],
)
def test_a_call_that_raises_tells_that_a_model_in_the_model_has_an_idle_input(
    used: list[int], calling: str, given: tuple[str, ...]
) -> None:
    inputs = [layer(name, "InputLayer", ident, inside=1) for ident, name in ((2, "a"), (3, "b"))]
    inputs = [replace(each, nodes=(1, int(each.ident in used))) for each in inputs]
    model = layer("m", "Model", 1, gives([0, 0, 0], [0, 0, 0]))
    original = observed([layer("input", "InputLayer", 0), model, *inputs], [1])
    assert [cause.given for cause in causes(original, [raising(None, calling)])] == [given]


def test_the_only_input_of_a_model_is_not_idle() -> None:
    model = layer("m", "Sequential", 1, gives([0, 0, 0]))
    original = observed([layer("input", "InputLayer", 0), model, layer("a", "InputLayer", 2, inside=1)], [1])
    assert [cause.given for cause in causes(original, [raising(None, "a.py:call")])] == [()]


@pytest.mark.parametrize(
    ("config", "given"),
    [
        ({"mask": "function mask db8b"}, ("a Lambda with a mask",)),
        ({"mask": "None"}, ()),
        ({}, ()),
    ],
    ids=["a mask", "no mask", "nothing said of it"],
)
@pytest.mark.parametrize(
    "place", [None, Place("d", "Dense", 2), Place("m", "Model", -1)], ids=["none", "layer", "model"]
)
def test_an_exception_tells_that_the_model_has_a_lambda_with_a_mask(
    config: dict[str, str], given: tuple[str, ...], place: Place | None
) -> None:
    first = layer("input", "InputLayer", 0)
    made = replace(layer("l", "Lambda", 1, gives([0, 0, 0])), config=config)
    original = observed([first, made, layer("d", "Dense", 2, gives([1, 0, 0]))], [2])
    assert [cause.given for cause in causes(original, [raising(place, "")])] == [given]


@pytest.mark.parametrize(
    ("expected", "found", "given"),
    [
        ("function gelu 1235eda2", "function gelu 4ccbd530", ("a function of the same name",)),
        ("function gelu 1235eda2", "function linear 4ccbd530", ()),
        ("function gelu 1235eda2", "nothing", ()),
        ("gelu", "gelu", ()),
    ],
    ids=["of its name", "of another", "lost", "no function"],
)
def test_a_function_in_the_place_of_another_tells_that_it_has_its_name(
    expected: str, found: str, given: tuple[str, ...]
) -> None:
    dense = layer("d", "Dense", 1, gives([0, 0, 0]))
    original = observed([layer("input", "InputLayer", 0), dense], [1])
    differs = Difference(
        "structure", "p", "attribute.activation", expected, found, Severity.COMPUTES, Place("d", "Dense", 1)
    )
    assert [cause.given for cause in causes(original, [differs])] == [given]


def raising(place: Place | None, calling: str) -> Difference:
    raised = Raised("ValueError", "no", "b.py:inner", calling)
    return Difference("made", "clone", "raises", "a clone", "ValueError: no", Severity.CRASHES, place, raised)


def test_a_name_explains_no_number() -> None:
    found = broken(ORIGINAL, (f"{S}.layers.0.name", "input_1"), *values(1, 2, 3, 4))
    assert [told(cause) for cause in found] == [("outputs", "value", "Masking"), ("structure", "name", "InputLayer")]


def test_a_lost_regularizer_explains_the_losses_and_no_output() -> None:
    found = broken(
        ORIGINAL,
        (f"{S}.layers.4.config.activity_regularizer", "l2"),
        (f"{R}.losses", ["loss 0"]),
        (f"{T}.losses", ["loss 0"]),
        ("observation.trained.loss", "x"),
        *values(4),
    )
    assert {told(cause) for cause in found} == {
        ("structure", "config.activity_regularizer", "Dense"),
        ("outputs", "value", "Dense"),
    }


def test_branches_that_do_not_meet_have_causes_of_their_own() -> None:
    layers = [layer("input", "InputLayer", 0), *(layer(n, n.title(), ord(n), gives([0, 0, 0])) for n in "ab")]
    original = observed(layers, outputs=[1, 2])
    found = broken(
        original, *[(f"{R}.steps.{step}.outputs.0.digest", "x") for step in (1, 2)], (f"{R}.outputs.0.digest", "x")
    )
    assert [told(cause) for cause in found] == [("outputs", "value", "A"), ("outputs", "value", "B")]


def test_weights_that_cannot_be_copied_explain_every_number() -> None:
    failure = Failure("ValueError", "no")
    (cause,) = broken(
        ORIGINAL, (f"{S}.weights.1.shape", [9]), ("observation.copied", failure), *values(3, 4), *values(3, 4, run=T)
    )
    assert told(cause) == ("weights", "weight shape", "LSTM")


def test_training_alone_is_its_own_cause_and_its_own_name() -> None:
    (inference,), (training,) = broken(ORIGINAL, *values(3, 4)), broken(ORIGINAL, *values(3, 4, run=T))
    assert told(inference) == told(training)
    assert inference.fingerprint != training.fingerprint


def test_the_same_bug_twice_in_a_graph_is_one_cause() -> None:
    original = chain("Lambda", "Dense", "Lambda")
    (cause,) = broken(original, *[(f"{S}.layers.{index}.config.mask", "{}") for index in (1, 3)])
    assert len(cause.followers) == 1


def test_a_layer_shared_with_the_original_explains_its_weights_and_the_trace_it_left() -> None:
    twin = [(f"{S}.layers.3.ident", 3), *((f"{S}.weights.{n}.ident", 100 + n) for n in (0, 1))]
    after = altered(ORIGINAL.shape, ("layers.3.calls", [gives([2, 0, 0]), gives([2, 0, 0])]))
    (cause,) = broken(ORIGINAL, *twin, ("original_after", after), ("again.layers.3.ident", 3))
    assert told(cause) == ("own", "layer shared", "LSTM")


def test_a_trace_left_in_the_original_stands_alone() -> None:
    after = altered(ORIGINAL.shape, ("layers.2.calls.0.kwargs", {"mask": True}))
    (cause,) = causes(ORIGINAL, compare(ORIGINAL, Clone(failure=Failure("ValueError", "x"), original_after=after)))[1:]
    assert told(cause) == ("untouched", "call.kwargs extra", "Lambda")


@given(seed=st.integers(0, 1000), data=st.randoms(use_true_random=False))
def test_every_difference_has_one_cause(seed: int, data: random.Random) -> None:
    fields = [
        (f"{S}.layers.2.config.mask", "{}"),
        (f"{S}.layers.1.name", "renamed"),
        (f"{S}.layers.3.trainable", False),
        (f"{S}.layers.4.calls.0.args.0", {"tensor": [1, 0, 0]}),
        (f"{S}.weights.2.trainable", False),
        (f"{S}.layers.3.ident", 3),
        (f"{R}.steps.2.outputs.0.mask", None),
        (f"{R}.steps.3.outputs.0.digest", "x"),
        (f"{T}.steps.1.outputs.0.digest", "x"),
        (f"{R}.losses", []),
        ("observation.trained.gradients.0", None),
        ("observation.saved.loading", Failure("ValueError", "Lambda")),
        ("twice_failure", Failure("ValueError", "no")),
        ("observation.fresh.1", False),
    ]
    chosen = data.sample(fields, data.randint(0, len(fields)))
    original = renumbered(ORIGINAL, 0)
    differences = compare(original, altered(faithful(original), *chosen))
    found = causes(original, differences)
    assert sorted(map(repr, differences)) == sorted(repr(one) for cause in found for one in cause.differences)
    assert len({cause.fingerprint for cause in found}) == len(found)
    assert [cause.severity for cause in found] == sorted(cause.severity for cause in found)
    shuffled = list(differences)
    random.Random(seed).shuffle(shuffled)
    assert {cause.fingerprint for cause in causes(original, shuffled)} == {cause.fingerprint for cause in found}


RAISED_IN_MAKING = Cause("raised", replace(RAISING, check="made"))


def test_verdicts() -> None:
    assert verdict([]) is Verdict.FAITHFUL
    assert verdict([replace(RAISING, check="made")]) is Verdict.CRASHED
    assert verdict([RAISING]) is Verdict.DIVERGED
    for aspect, ended in (("process timed out", Verdict.TIMED_OUT), ("process SIGSEGV", Verdict.KILLED)):
        assert verdict([replace(RAISING, check="made", aspect=aspect)]) is ended


def test_blame_goes_three_ways() -> None:
    def cause(check: str, aspect: str = "value", frame: str = "") -> Cause:
        root = Difference(check, "p", aspect, "", "", Severity.COMPUTES, Place("a", "A", 1), Raised("E", "", frame))
        return Cause(fingerprint(root), root)

    upstream, both, ours = cause("outputs"), cause("masks", frame="keras/x.py:f"), cause("weights")
    theirs = cause("masks", frame="inside/cloners/fixed/y.py:g")
    assert alike(both, theirs)
    found = with_blame({"upstream": [upstream, both], "fixed": [theirs, ours], "other": [ours]})
    assert {cloner: [each.blame for each in its] for cloner, its in found.items()} == {
        "upstream": [Blame.UPSTREAM, Blame.BOTH],
        "fixed": [Blame.BOTH, Blame.OURS],
        "other": [Blame.ITS_OWN],
    }


def test_what_both_break_is_said_to_be_no_limit_and_older_files_are_read() -> None:
    assert all("limit" not in each for each in Blame)
    assert msgspec.json.decode(b'"shared limit"', type=Blame) is Blame.BOTH
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(b'"nobody"', type=Blame)


def test_that_weights_are_not_taken_follows_from_their_order_in_a_model_inside() -> None:
    inside = Place("inner/dense", "Dense", 2, inside="Functional")
    moved = Difference("weights", "weights", "weight order", "[0, 1]", "[1, 0]", Severity.COMPUTES, inside)
    said = ("it takes the weights", "ValueError: weight 0 has shape (5, 4) in the original, () in the clone")
    not_taken = Difference(
        "weights", "set_weights", "raises", *said, Severity.CRASHES, None, Raised("ValueError", "", "")
    )
    (cause,) = causes(ORIGINAL, [not_taken, moved])
    assert cause.root == moved


@pytest.mark.parametrize("upstream", [{"upstream": [RAISED_IN_MAKING]}, {}], ids=["made no clone", "was not asked"])
def test_nobody_is_at_fault_for_what_upstream_had_no_chance_to_show(upstream: dict[str, list[Cause]]) -> None:
    ours = Cause("id", replace(RAISING, check="weights"))
    assert [each.blame for each in with_blame({**upstream, "fixed": [ours]})["fixed"]] == [Blame.UNKNOWN]


def test_a_place_is_that_of_the_layer_in_the_graph_or_of_the_one_that_holds_it() -> None:
    cell = layer("cell", "LSTMCell", 9, inside=3, role="cell")
    original = observed([*ORIGINAL.shape.layers, cell], outputs=[4])
    original = replace(original, index={"x": (1,), "y": (3, 2), "other": ()})
    case = Case("model = 1", (), index={"x": (0,), "y": (2, 1), "other": (5,)})

    def at(number: int) -> tuple[int, ...] | None:
        (named,) = in_graph([replace(RAISING, first=Place("a layer", "Dense", number))], case, original)
        assert named.first is not None
        return named.first.at

    assert [at(number) for number in (-1, 0, 1, 2, 3, 4, 5)] == [(), None, (0,), (2, 1), (2, 1), None, (2, 1)]


def test_weights_cannot_be_set_since_one_is_missing_and_not_since_calls_changed_places() -> None:
    first = Place("dense_1", "Dense", 1)
    calls = Difference("structure", "p", "call order", "0, 1", "1, 0", Severity.PROPERTY, first)
    missing = Difference("weights", "weights[2]", "weight missing", "x", "nothing", Severity.COMPUTES, first)
    raised = Difference("weights", "set_weights", "raises", "4 weights", "3 weights", Severity.CRASHES)
    found = roots(chain("Dense", "Dense"), [calls, missing, raised])
    assert found == [(calls, []), (missing, [raised])]
