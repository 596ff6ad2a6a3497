"""Which differences are causes, and which follow from another one."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from clonediff.harness.subjects.observation import Clone, Failure, Observation
from clonediff.harness.trials.checks import compare
from clonediff.harness.trials.triage import causes
from clonediff.reports.records import Cause, Difference, Place, Raised, Severity

from .checks.making import altered, chain, faithful, gives, layer, observed, renumbered

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


def test_a_config_explains_what_its_layer_and_those_after_it_do() -> None:
    (cause,) = broken(
        ORIGINAL,
        (f"{S}.layers.2.config.mask", "{}"),
        (f"{R}.steps.2.outputs.0.mask", None),
        *values(3, 4),
        ("observation.trained.loss", "x"),
    )
    assert told(cause) == ("structure", "config.mask", "Lambda")


def test_an_input_that_is_optional_no_more_explains_no_number() -> None:
    found = broken(ORIGINAL, (f"{S}.layers.0.config.optional", "False"), *values(3, 4))
    assert {told(cause) for cause in found} == {
        ("structure", "config.optional", "InputLayer"),
        ("outputs", "value", "LSTM"),
    }


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


def test_that_weights_are_not_taken_follows_from_their_order_in_a_model_inside() -> None:
    inside = Place("inner/dense", "Dense", 2, inside="Functional")
    moved = Difference("weights", "weights", "weight order", "[0, 1]", "[1, 0]", Severity.COMPUTES, inside)
    said = ("it takes the weights", "ValueError: weight 0 has shape (5, 4) in the original, () in the clone")
    not_taken = Difference(
        "weights", "set_weights", "raises", *said, Severity.CRASHES, None, Raised("ValueError", "", "")
    )
    (cause,) = causes(ORIGINAL, [not_taken, moved])
    assert cause.root == moved
