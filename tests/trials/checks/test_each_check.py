"""Every check passes a faithful clone, and catches a broken one by what is broken in it."""

from __future__ import annotations

import sys

import msgspec
import pytest

from clonediff.harness.inside.cloners.users import NO_MODEL
from clonediff.harness.subjects.observation import Clone, Failure, Frame, Leaf, Leak, Observation
from clonediff.harness.trials.checks import CHECKS, compare
from clonediff.reports.records import Severity

from .making import GONE, altered, chain, faithful, gives, layer, observed

ORIGINAL = chain("Masking", "Lambda", "LSTM", "Dense")
CLONE = faithful(ORIGINAL)
S, R, T = "observation.shape", "observation.inference", "observation.training"
FAILURE = Failure(
    "ValueError",
    "the Lambda said no",
    (Frame("keras/src/models/cloning.py", "clone_model", 1), Frame("numpy/core.py", "add", 2)),
)


def asked(*layers: int, what: str = "layer", there: bool = True) -> dict[str, object]:
    """A clone function that was asked for these layers, and was to be asked for all but the input."""
    calls = [{"layer": layer, "what": what, "there": there} for layer in layers]
    return {"calls": calls, "wanted": [1, 2, 3, 4]}


BROKEN = [
    # check, what is changed, path, aspect
    ("made", [("failure", FAILURE)], "clone", "raises"),
    ("made", [("observation", None)], "clone", "no model"),
    ("made", [("failure", Failure(NO_MODEL, "it gave a dict"))], "clone", "no model"),
    ("weights", [(f"{S}.weights.1", GONE)], "weights[1]", "weight missing"),
    ("weights", [(f"{S}.weights.1.name", "scale")], "weights[1].name", "weight name"),
    (
        "weights",
        [(f"{S}.weights.1.name", f"outer/{ORIGINAL.shape.weights[1].name}")],
        "weights[1].name",
        "weight scope",
    ),
    ("weights", [(f"{S}.weights.1.shape", [3])], "weights[1].shape", "weight shape"),
    ("weights", [(f"{S}.weights.1.dtype", "float16")], "weights[1].dtype", "weight dtype"),
    ("weights", [(f"{S}.weights.1.trainable", False)], "weights[1].trainable", "weight trainable"),
    (
        "weights",
        [(f"{S}.weights.0", ORIGINAL.shape.weights[1]), (f"{S}.weights.1", ORIGINAL.shape.weights[0])],
        "weights",
        "weight order",
    ),
    ("weights", [("observation.copied", FAILURE)], "set_weights", "raises"),
    ("weights", [("observation.copied_weights.0", "other")], "weights[0].copied", "copied value"),
    ("weights", [("observation.brought", ["other"] * 9)], "weights[0].brought", "value not kept"),
    ("outputs", [(f"{R}.steps.2.structure", [0])], "inference.steps['lambda_2'][0].structure", "structure type"),
    (
        "own",
        [("observation.leaks", [Leak("TrackedList", 3, "._auto_config.config['axis']", 3, ".axis")])],
        "layers['lstm_3'].attribute._auto_config.config['axis']",
        "object reached.config",
    ),
    ("functions", [("asked", asked(1, 3, 4))], "layers['lambda_2']", "not asked"),
    ("functions", [("asked", asked(1, 2, 3, 2, 4))], "layers['lambda_2']", "asked again"),
    ("functions", [("asked", {**asked(0, what="input"), "wanted": []})], "layers['input']", "asked of an input"),
    (
        "functions",
        [("asked", {**asked(2, what="operation"), "wanted": []})],
        "layers['lambda_2']",
        "asked of an operation",
    ),
    ("functions", [("asked", {**asked(3, there=False), "wanted": []})], "layers['lstm_3']", "not what it gave"),
    ("weights", [(f"{S}.states.0", GONE)], "states[0]", "state missing"),
    ("weights", [(f"{S}.states.0.value", "other")], "states[0].value", "state value"),
    ("own", [(f"{S}.weights.0.ident", 100)], "weights[0]", "weight shared"),
    ("own", [(f"{S}.states.0.ident", 500)], "states[0]", "state shared"),
    ("own", [(f"{S}.layers.3.ident", 3)], "layers['lstm_3']", "layer shared"),
    ("own", [("observation.fresh.2", False)], "weights[2].value", "not fresh"),
    ("sharing", [(f"{S}.layers.4.ident", 1003)], "layers['dense_4']", "layer merged"),
    ("sharing", [(f"{S}.weights.1.ident", 1100)], "weights[1]", "weight merged"),
    ("outputs", [(f"{R}.outputs", [])], "inference.outputs", "count"),
    ("outputs", [(f"{R}.structure", {"tuple": [0]})], "inference.structure", "structure type"),
    ("outputs", [(f"{R}.outputs.0.digest", "x")], "inference.outputs[0]", "value"),
    ("outputs", [(f"{R}.outputs.0.dtype", "float16")], "inference.outputs[0].dtype", "dtype"),
    ("outputs", [(f"{R}.outputs.0.shape", [2])], "inference.outputs[0].shape", "shape"),
    ("outputs", [(f"{T}.outputs.0.digest", "x")], "training.outputs[0]", "value"),
    ("outputs", [(f"{R}.failure", FAILURE)], "inference", "raises"),
    ("outputs", [(R, None)], "inference", "not run"),
    ("outputs", [(f"{R}.steps.2", GONE)], "inference.steps['lambda_2'][0]", "step missing"),
    ("outputs", [(f"{R}.steps.2.outputs.0.digest", "x")], "inference.steps['lambda_2'][0].outputs[0]", "value"),
    ("masks", [(f"{R}.outputs.0.mask", None)], "inference.outputs[0].mask", "mask lost"),
    ("masks", [(f"{R}.steps.2.outputs.0.mask", None)], "inference.steps['lambda_2'][0].outputs[0].mask", "mask lost"),
    ("masks", [(f"{R}.steps.0.outputs.0.mask", "new")], "inference.steps['input'][0].outputs[0].mask", "mask added"),
    ("masks", [(f"{T}.outputs.0.mask", "x")], "training.outputs[0].mask", "mask value"),
    ("masks", [(f"{S}.layers.2.calls.0.masks.0", True)], "layers['lambda_2'].calls[0].masks[0]", "mask added"),
    ("structure", [(f"{S}.kind", "Sequential")], "model.kind", "kind"),
    ("structure", [(f"{S}.name", "model_1")], "model.name", "name"),
    ("structure", [(f"{S}.trainable", False)], "model.trainable", "trainable"),
    ("structure", [(f"{S}.compiled", None)], "model.compiled", "compiled"),
    (
        "structure",
        [(f"{S}.compiled", {"optimizer": "Adam", "optimizer.Adam.epsilon": "0.1", "metrics[0]": "'mae'"})],
        "model.compiled.optimizer.Adam.epsilon",
        "compiled.optimizer.Adam.epsilon",
    ),
    (
        "structure",
        [(f"{S}.compiled", {"optimizer": "Adam", "optimizer.Adam.epsilon": "1e-07"})],
        "model.compiled.metrics[0]",
        "compiled.metrics",
    ),
    ("own", [(f"{S}.compiled_with", [900])], "compiled_with[0]", "compiled_with shared"),
    ("structure", [(f"{S}.input_structure", [0])], "model.input_structure", "input structure type"),
    ("structure", [(f"{S}.outputs", [])], "outputs", "output count"),
    ("structure", [(f"{S}.inputs.0.optional", True)], "inputs[0].optional", "input optional"),
    ("structure", [(f"{S}.outputs.0.tensor", [3, 0, 0])], "outputs[0].tensor", "output tensor"),
    ("structure", [(f"{S}.layers.2.name", "lambda_9")], "layers['lambda_2'].name", "name"),
    ("structure", [(f"{S}.layers.2.kind", "Other")], "layers['lambda_2'].kind", "kind"),
    ("structure", [(f"{S}.layers.2.config.mask", "{}")], "layers['lambda_2'].config.mask", "config.mask"),
    ("structure", [(f"{S}.layers.2.config.mask", GONE)], "layers['lambda_2'].config.mask", "config.mask"),
    ("structure", [(f"{S}.layers.2.calls", [])], "layers['lambda_2'].calls", "call count"),
    (
        "structure",
        [(f"{S}.layers.2.calls.0.kwargs", {"mask": True})],
        "layers['lambda_2'].calls[0].kwargs['mask']",
        "call.kwargs extra",
    ),
    (
        "structure",
        [(f"{S}.layers.2.calls.0.args.0", {"tensor": [0, 0, 0]})],
        "layers['lambda_2'].calls[0].args[0]",
        "call.args tensor",
    ),
    ("untouched", [("original_after", ORIGINAL.shape)], "original.model", "touched"),
    (
        "untouched",
        [("original_after", altered(ORIGINAL.shape, ("layers.2.calls.0.kwargs", {"mask": None})))],
        "original.layers['lambda_2'].calls[0].kwargs['mask']",
        "call.kwargs extra",
    ),
    (
        "untouched",
        [("original_after", altered(ORIGINAL.shape, ("weights.1.value", "changed")))],
        "original.weights[1].value",
        "weight value",
    ),
    (
        "untouched",
        [("inference_after", altered(ORIGINAL.inference, ("outputs.0.digest", "x")))],
        "original.inference.outputs[0]",
        "value",
    ),
    (
        "untouched",
        [("original_after", altered(ORIGINAL.shape, ("layers.2.nodes", [1, 0])))],
        "original.layers['lambda_2'].nodes.inbound",
        "inbound nodes",
    ),
    ("again", [("again_failure", FAILURE)], "again", "no clone"),
    ("again", [("twice_failure", FAILURE)], "twice", "no clone"),
    ("again", [("again.shape.layers.2.name", "lambda_3")], "again.layers['lambda_2'].name", "name"),
    ("again", [("twice.inference.outputs.0.digest", "x")], "twice.inference.outputs[0]", "value"),
    ("again", [("again.shape.layers.4.ident", 1004)], "again.layers['dense_4']", "layer shared by clones"),
    ("again", [("again.shape.weights.0.ident", 1100)], "again.weights[0]", "weight shared by clones"),
    ("again", [("twice.shape.states.0.ident", 1500)], "twice.states[0]", "state shared by clones"),
    ("training", [(f"{R}.losses", ["loss 0"])], "inference.losses", "losses count"),
    ("training", [(f"{T}.losses.1", "x")], "training.losses[1]", "losses value"),
    ("training", [("observation.trained", None)], "trained", "not trained"),
    ("training", [("observation.trained.loss", "x")], "trained.loss", "loss"),
    ("training", [("observation.trained.gradients.0", None)], "trained.gradients[0]", "gradient missing"),
    ("training", [("observation.trained.gradients.0", GONE)], "trained.gradients", "gradient count"),
    ("training", [("observation.trained.weights.3.digest", "x")], "trained.weights[3]", "weight value"),
    ("training", [("observation.trained.failure", FAILURE)], "trained", "raises"),
    ("warned", [("warned", [FAILURE])], "warned[0]", "raises"),
]


@pytest.mark.parametrize("check", CHECKS)
def test_passes_a_faithful_clone(check: str) -> None:
    assert compare(ORIGINAL, CLONE, [check]) == []


@pytest.mark.parametrize(
    ("check", "changes", "path", "aspect"),
    BROKEN,
    ids=lambda value: value.replace("observation.", "") if isinstance(value, str) else "",
)
def test_catches_what_is_broken(check: str, changes: list[tuple[str, object]], path: str, aspect: str) -> None:
    differences = compare(ORIGINAL, altered(CLONE, *changes), [check])
    assert (path, aspect) in [(one.path, one.aspect) for one in differences]
    assert {one.check for one in differences} == {check}


@pytest.mark.parametrize(
    ("path", "severity"),
    [
        (f"{R}.outputs.0.digest", Severity.COMPUTES),
        (f"{T}.outputs.0.digest", Severity.TRAINS),
        (f"{R}.outputs.0.mask", Severity.COMPUTES),
        (f"{R}.steps.2.outputs.0.mask", Severity.PROPERTY),
    ],
)
def test_what_differs_in_a_run_is_as_severe_as_where_it_is_seen(path: str, severity: Severity) -> None:
    (difference,) = compare(ORIGINAL, altered(CLONE, (path, "other")))
    assert difference.severity is severity


def test_every_check_has_its_promise_and_a_broken_clone_here() -> None:
    assert set(CHECKS) == {case[0] for case in BROKEN}
    promises = [sys.modules[check.differences.__module__].__doc__ or "" for check in CHECKS.values()]
    assert [promise.partition(".")[0] for promise in promises] == [*map(str, range(1, 13))]


def test_all_checks_together_on_a_faithful_clone() -> None:
    assert compare(ORIGINAL, CLONE) == []


def test_a_crash_names_the_frame_of_the_framework_and_the_layer_it_speaks_of() -> None:
    (difference,) = compare(ORIGINAL, Clone(failure=FAILURE))
    assert difference.raised is not None
    assert difference.raised.frame == "keras/src/models/cloning.py:clone_model"
    assert difference.first is not None
    assert (difference.first.name, difference.first.kind) == ("lambda_2", "Lambda")


def test_an_output_names_the_first_step_where_the_runs_part() -> None:
    steps = [(f"{R}.steps.{number}.outputs.0.digest", "x") for number in (3, 4)]
    found = compare(ORIGINAL, altered(CLONE, *steps, (f"{R}.outputs.0.digest", "x")), ["outputs"])
    assert [one.path for one in found][-1] == "inference.outputs[0]"
    assert {one.first.name for one in found if one.first} == {"lstm_3", "dense_4"}
    assert found[-1].first is not None
    assert found[-1].first.name == "lstm_3"


def test_permuted_outputs_are_one_difference_of_order() -> None:
    original = observed([layer("input", "InputLayer", 0), *[_dense(name) for name in "ab"]], outputs=[1, 2])
    leaves = [original.inference.outputs[index] for index in (1, 0)] if original.inference else []
    found = compare(original, altered(faithful(original), (f"{R}.outputs", leaves)), ["outputs"])
    assert [(one.path, one.aspect) for one in found] == [("inference.outputs", "order")]


def test_a_shared_layer_called_in_another_order_is_no_other_value() -> None:
    shared = layer("shared", "Dense", 3, gives([1, 0, 0]), gives([2, 0, 0]))
    original = observed([layer("input", "InputLayer", 0), _dense("a"), _dense("b"), shared], outputs=[3])
    calls = list(reversed(original.shape.layers[3].calls))
    steps = [
        (f"{run}.steps.{one}.outputs.0.digest", f"value shared.{1 - use}")
        for run in (R, T)
        for use, one in enumerate((3, 4))
    ]
    clone = altered(faithful(original), (f"{S}.layers.3.calls", calls), (f"{S}.outputs.0.tensor", [3, 1, 0]), *steps)
    found = compare(original, msgspec.structs.replace(clone, again=None, twice=None))
    assert {one.aspect for one in found} == {"call order"}


def test_a_layer_unshared_between_two_models_is_told_as_such() -> None:
    shared = layer("shared", "Dense", 1, gives([0, 0, 0]))
    inner = layer("inner", "Functional", 2, gives([1, 0, 0]))
    held = layer("shared", "Dense", 1, gives([0, 0, 0]), inside=2)
    original = observed([layer("input", "InputLayer", 0), shared, inner, held], outputs=[2])
    found = compare(original, altered(faithful(original), (f"{S}.layers.3.ident", 1077)), ["sharing"])
    assert [(one.path, one.aspect, one.expected) for one in found] == [
        ("layers['inner/shared']", "layer unshared", "the same as layers['shared']")
    ]


NAMED = altered(ORIGINAL, ("shape.weights.1.name", "lstm/bias"), ("shape.weights.1.short_name", "bias"))
NAME, PATH = f"{S}.weights.1.short_name", f"{S}.weights.1.name"


@pytest.mark.parametrize(
    ("changes", "aspects"),
    [
        pytest.param([(NAME, "b")], ["weight name alone"], id="name"),
        pytest.param([(PATH, "lstm/b")], ["weight path alone"], id="path"),
        pytest.param([(NAME, "b"), (PATH, "lstm/b")], ["weight name"], id="both"),
        pytest.param([(PATH, "a/lstm/bias")], ["weight scope"], id="scope"),
        pytest.param([(NAME, "b"), (PATH, "a/lstm/bias")], ["weight scope", "weight name alone"], id="name and scope"),
    ],
)
def test_a_name_and_a_path_are_two_things(changes: list[tuple[str, str]], aspects: list[str]) -> None:
    found = compare(NAMED, altered(faithful(NAMED), ("again", None), ("twice", None), *changes))
    assert [one.aspect for one in found] == aspects
    assert {one.severity for one in found} == {Severity.NAME}


def test_what_clones_share_with_the_original_they_do_not_share_with_each_other_as_well() -> None:
    shared = [(f"{place}.weights.0.ident", 100) for place in (S, "again.shape", "twice.shape")]
    assert compare(ORIGINAL, altered(CLONE, *shared), ["again"]) == []


def test_a_layer_in_several_places_that_was_called_is_told_of_once() -> None:
    original = observed([layer("input", "InputLayer", 0), _dense("a"), _dense("a")], outputs=[1])
    after = altered(original.shape, ("layers.1.nodes", [1, 0]), ("layers.2.nodes", [1, 0]))
    found = compare(original, altered(faithful(original), ("original_after", after)), ["untouched"])
    assert [one.aspect for one in found] == ["inbound nodes"]


def test_what_the_first_clone_has_wrong_is_not_told_again() -> None:
    wrong = [(f"{place}.layers.2.name", "renamed") for place in (S, "again.shape", "twice.shape")]
    assert compare(ORIGINAL, altered(CLONE, *wrong), ["again"]) == []


def test_nan_is_equal_to_nan_by_its_digest_and_nothing_else() -> None:
    leaf = Leaf((2,), "float32", "nan")
    original = altered(ORIGINAL, ("inference.outputs.0", leaf))
    clone = altered(CLONE, (f"{R}.outputs.0", leaf))
    assert compare(original, clone, ["outputs"]) == []
    assert isinstance(original, Observation)


def _dense(name: str) -> object:
    return layer(name, "Dense", ord(name), gives([0, 0, 0]))


@pytest.mark.parametrize(("calls", "aspects"), [(asked(1, 2, 3, 4), []), (None, ["object shared"])])
def test_what_a_clone_function_shares_the_second_clone_may_share(
    calls: dict[str, object] | None, aspects: list[str]
) -> None:
    attributes = "shape.layers.1.attributes"
    original = altered(ORIGINAL, (attributes, {".arguments": "dict of 1"}))
    clone = altered(faithful(original), ("asked", calls), (f"again.{attributes}", {".arguments": "!dict of 1"}))
    assert [one.aspect for one in compare(original, clone, ["again"])] == aspects
