"""Every check passes a faithful clone, and catches a broken one by what is broken in it."""

from __future__ import annotations

import random
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from clonediff.harness.inside.cloners.users import NO_MODEL
from clonediff.harness.subjects.observation import Clone, Failure, Frame, Leak, Observation, Shape, Variable
from clonediff.harness.trials.checks import CHECKS, compare
from clonediff.harness.trials.triage import causes
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
COMPILED = {"optimizer": "Adam", "optimizer.Adam.epsilon": "1e-07", "metrics[0]": "'mae'"}
LAMBDA = "layers['lambda_2']"

Changes = list[tuple[str, Any]]


def asked(*layers: int, what: str = "layer", there: bool = True, wanted: tuple[int, ...] = ()) -> dict[str, object]:
    """A clone function that was called on these layers."""
    return {"calls": [{"layer": number, "what": what, "there": there} for number in layers], "wanted": wanted}


def after(*changes: tuple[str, Any]) -> Changes:
    """The original, changed by the cloner."""
    return [("original_after", altered(ORIGINAL.shape, *changes))]


BROKEN: list[tuple[str, str, Changes, str]] = [
    ("made", "raises", [("failure", FAILURE)], "clone"),
    ("made", "no model", [("observation", None)], "clone"),
    ("made", "no model", [("failure", Failure(NO_MODEL, "it gave a dict"))], "clone"),
    ("weights", "weight missing", [(f"{S}.weights.1", GONE)], "weights[1]"),
    ("weights", "weight shape", [(f"{S}.weights.1.shape", [3])], "weights[1].shape"),
    ("weights", "weight trainable", [(f"{S}.weights.1.trainable", False)], "weights[1].trainable"),
    ("weights", "weight order", [(f"{S}.weights", ORIGINAL.shape.weights[::-1])], "weights"),
    ("weights", "raises", [("observation.copied", FAILURE)], "set_weights"),
    ("weights", "copied value", [("observation.copied_weights.0", "other")], "weights[0].copied"),
    ("weights", "value not kept", [("observation.brought", ["other"] * 9)], "weights[0].brought"),
    ("weights", "state value", [(f"{S}.states.0.value", "other")], "states[0].value"),
    ("own", "weight shared", [(f"{S}.weights.0.ident", 100)], "weights[0]"),
    ("own", "layer shared", [(f"{S}.layers.3.ident", 3)], "layers['lstm_3']"),
    ("own", "not fresh", [("observation.fresh.2", False)], "weights[2].value"),
    ("own", "compiled_with shared", [(f"{S}.compiled_with", [900])], "compiled_with[0]"),
    (
        "own",
        "object reached.config",
        [("observation.leaks", [Leak("TrackedList", 3, "._auto_config.config['axis']", 3, ".axis")])],
        "layers['lstm_3'].attribute._auto_config.config['axis']",
    ),
    ("sharing", "layer merged", [(f"{S}.layers.4.ident", 1003)], "layers['dense_4']"),
    ("outputs", "count", [(f"{R}.outputs", [])], "inference.outputs"),
    ("outputs", "structure type", [(f"{R}.structure", {"tuple": [0]})], "inference.structure"),
    ("outputs", "structure type", [(f"{R}.steps.2.structure", [0])], "inference.steps['lambda_2'][0].structure"),
    ("outputs", "value", [(f"{R}.outputs.0.digest", "x")], "inference.outputs[0]"),
    ("outputs", "shape", [(f"{R}.outputs.0.shape", [2])], "inference.outputs[0].shape"),
    ("outputs", "value", [(f"{T}.outputs.0.digest", "x")], "training.outputs[0]"),
    ("outputs", "raises", [(f"{R}.failure", FAILURE)], "inference"),
    ("outputs", "step missing", [(f"{R}.steps.2", GONE)], "inference.steps['lambda_2'][0]"),
    ("outputs", "value", [(f"{R}.steps.2.outputs.0.digest", "x")], "inference.steps['lambda_2'][0].outputs[0]"),
    ("masks", "mask lost", [(f"{R}.outputs.0.mask", None)], "inference.outputs[0].mask"),
    ("masks", "mask lost", [(f"{R}.steps.2.outputs.0.mask", None)], "inference.steps['lambda_2'][0].outputs[0].mask"),
    ("masks", "mask added", [(f"{R}.steps.0.outputs.0.mask", "new")], "inference.steps['input'][0].outputs[0].mask"),
    ("masks", "mask added", [(f"{S}.layers.2.calls.0.masks.0", True)], f"{LAMBDA}.calls[0].masks[0]"),
    ("structure", "trainable", [(f"{S}.trainable", False)], "model.trainable"),
    ("structure", "compiled", [(f"{S}.compiled", None)], "model.compiled"),
    (
        "structure",
        "compiled.optimizer.Adam.epsilon",
        [(f"{S}.compiled", {**COMPILED, "optimizer.Adam.epsilon": "0.1"})],
        "model.compiled.optimizer.Adam.epsilon",
    ),
    (
        "structure",
        "compiled.metrics",
        [(f"{S}.compiled", dict(list(COMPILED.items())[:2]))],
        "model.compiled.metrics[0]",
    ),
    ("structure", "input structure type", [(f"{S}.input_structure", [0])], "model.input_structure"),
    ("structure", "output count", [(f"{S}.outputs", [])], "outputs"),
    ("structure", "output tensor", [(f"{S}.outputs.0.tensor", [3, 0, 0])], "outputs[0].tensor"),
    ("structure", "name", [(f"{S}.layers.2.name", "lambda_9")], f"{LAMBDA}.name"),
    ("structure", "kind", [(f"{S}.layers.2.kind", "Other")], f"{LAMBDA}.kind"),
    ("structure", "config.mask", [(f"{S}.layers.2.config.mask", "{}")], f"{LAMBDA}.config.mask"),
    ("structure", "config.mask", [(f"{S}.layers.2.config.mask", GONE)], f"{LAMBDA}.config.mask"),
    ("structure", "call count", [(f"{S}.layers.2.calls", [])], f"{LAMBDA}.calls"),
    ("structure", "call.kwargs extra", [(f"{S}.layers.2.calls.0.kwargs", {"a": 1})], f"{LAMBDA}.calls[0].kwargs['a']"),
    (
        "structure",
        "call.args tensor",
        [(f"{S}.layers.2.calls.0.args.0", {"tensor": [0, 0, 0]})],
        f"{LAMBDA}.calls[0].args[0]",
    ),
    ("untouched", "touched", after(), "original.model"),
    (
        "untouched",
        "call.kwargs extra",
        after(("layers.2.calls.0.kwargs", {"mask": None})),
        f"original.{LAMBDA}.calls[0].kwargs['mask']",
    ),
    ("untouched", "weight value", after(("weights.1.value", "changed")), "original.weights[1].value"),
    ("untouched", "touched", after(("layers.2.nodes", [1, 0])), "original.model"),
    (
        "untouched",
        "value",
        [("inference_after", altered(ORIGINAL.inference, ("outputs.0.digest", "x")))],
        "original.inference.outputs[0]",
    ),
    ("again", "no clone", [("again_failure", FAILURE)], "again"),
    ("again", "name", [("again.shape.layers.2.name", "lambda_3")], f"again.{LAMBDA}.name"),
    ("again", "value", [("twice.inference.outputs.0.digest", "x")], "twice.inference.outputs[0]"),
    ("again", "layer shared by clones", [("again.shape.layers.4.ident", 1004)], "again.layers['dense_4']"),
    ("again", "state shared by clones", [("twice.shape.states.0.ident", 1500)], "twice.states[0]"),
    ("training", "losses value", [(f"{T}.losses.1", "x")], "training.losses[1]"),
    ("training", "loss", [("observation.trained.loss", "x")], "trained.loss"),
    ("training", "gradient missing", [("observation.trained.gradients.0", None)], "trained.gradients[0]"),
    ("training", "weight value", [("observation.trained.weights.3.digest", "x")], "trained.weights[3]"),
    ("training", "raises", [("observation.trained.failure", FAILURE)], "trained"),
    ("functions", "not asked", [("asked", asked(1, 3, wanted=(1, 2, 3)))], LAMBDA),
    ("functions", "asked again", [("asked", asked(1, 2, 2))], LAMBDA),
    ("functions", "asked of an input", [("asked", asked(0, what="input"))], "layers['input']"),
    ("functions", "asked of an operation", [("asked", asked(2, what="operation"))], LAMBDA),
    ("functions", "not what it gave", [("asked", asked(3, there=False))], "layers['lstm_3']"),
    ("warned", "raises", [("warned", [FAILURE])], "warned[0]"),
]


def test_every_check_passes_a_faithful_clone_and_has_a_broken_one_here() -> None:
    assert compare(ORIGINAL, CLONE) == []
    assert set(CHECKS) == {case[0] for case in BROKEN}


@pytest.mark.parametrize(("check", "aspect", "changes", "path"), BROKEN, ids=lambda part: str(part)[:40])
def test_a_check_catches_what_is_broken(check: str, aspect: str, changes: Changes, path: str) -> None:
    differences = compare(ORIGINAL, altered(CLONE, *changes), [check])
    assert (path, aspect) in [(one.path, one.aspect) for one in differences]
    assert {one.check for one in differences} == {check}


def two_dense(*layers: Any, outputs: tuple[int, ...] = (1, 2)) -> Observation:
    """Two layers side by side, and others."""
    return observed([INPUT, dense("a"), dense("b"), *layers], list(outputs))


def dense(name: str, *calls: Any) -> Any:
    return layer(name, "Dense", ord(name), *(calls or (gives([0, 0, 0]),)))


INPUT = layer("input", "InputLayer", 0)
A, B = {"tensor": [1, 0, 0]}, {"tensor": [2, 0, 0]}
SHARED = two_dense(dense("s", gives([1, 0, 0]), gives([2, 0, 0])), dense("t", gives([3, 0, 0]), gives([3, 1, 0])))
TWICE_ALIKE = observed([INPUT, dense("s", gives([0, 0, 0]), gives([0, 0, 0])), dense("a", gives([1, 0, 0]))], [2])
HELD = observed(
    [INPUT, dense("s"), layer("inner", "Functional", 2, gives([1, 0, 0])), replace(dense("s"), inside=2)], [2]
)
JOINED = two_dense(dense("j", gives([1, 0, 0], [2, 0, 0])))
DEFAULT = altered(JOINED, ("shape.layers.3.calls.0.args", [A, {"value": "default"}, B]))
NAMED = altered(ORIGINAL, ("shape.weights.1.name", "lstm/bias"), ("shape.weights.1.short_name", "bias"))
NAME, PATH = f"{S}.weights.1.short_name", f"{S}.weights.1.name"
LISTS = altered(ORIGINAL, ("shape.layers.1.attributes", {".arguments": "dict of 1"}))
BY_HAND = replace(two_dense(replace(layer("cast_1", "Cast", 3, gives([1, 0, 0])), config={})), cloned=ORIGINAL.shape)
KEPT = replace(LISTS, keeps="layers")
LATER = altered(LISTS.shape, ("layers.1.attributes", {".arguments": "None"}))


def at_call(number: int, args: list[Any], **kwargs: Any) -> Changes:
    call = f"{S}.layers.3.calls.{number}"
    return [(f"{call}.args", args), (f"{call}.kwargs", kwargs)]


@pytest.mark.parametrize(
    ("original", "changes", "aspects"),
    [
        pytest.param(
            SHARED,
            [*at_call(0, [B]), *at_call(1, [A]), (f"{S}.layers.4.calls", [gives([3, 1, 0]), gives([3, 0, 0])])],
            ["call order"],
            id="calls of a shared layer in another order, and those after them",
        ),
        pytest.param(
            SHARED,
            [*at_call(0, [B], mask=1), *at_call(1, [A], mask=1)],
            ["call order", "call.kwargs extra"],
            id="calls in another order, each with one more argument",
        ),
        pytest.param(TWICE_ALIKE, [], [], id="calls that nobody tells apart"),
        pytest.param(
            HELD, [(f"{S}.layers.3.ident", 1077)], ["layer unshared"], id="a layer shared with an inner model"
        ),
        pytest.param(
            two_dense(),
            [(f"{R}.outputs.0.digest", "value b.0"), (f"{R}.outputs.1.digest", "value a.0")],
            ["order"],
            id="outputs in another order",
        ),
        pytest.param(JOINED, at_call(0, [A], other=B), [], id="an argument by keyword"),
        pytest.param(JOINED, at_call(0, [A], other=A), ["call.kwargs tensor"], id="another argument by keyword"),
        pytest.param(JOINED, at_call(0, [A]), ["call.args missing"], id="a lost argument"),
        pytest.param(DEFAULT, at_call(0, [A], third=B), [], id="a default that no keyword has"),
        pytest.param(NAMED, [(NAME, "b")], ["weight name alone"], id="a name and no path"),
        pytest.param(NAMED, [(PATH, "lstm/b")], ["weight path alone"], id="a path and no name"),
        pytest.param(NAMED, [(NAME, "b"), (PATH, "lstm/b")], ["weight name"], id="a name with its path"),
        pytest.param(
            NAMED, [(NAME, "b"), (PATH, "a/lstm/bias")], ["weight name alone", "weight scope"], id="two names"
        ),
        pytest.param(
            LISTS, [("again.shape.layers.1.attributes", {".arguments": "!dict of 1"})], ["object shared"], id="again"
        ),
        pytest.param(
            LISTS,
            [("again.shape.layers.1.attributes", {".arguments": "!dict of 1"}), ("asked", asked(1, 2, 3, 4))],
            [],
            id="what a clone function shares",
        ),
        pytest.param(LISTS, [("original_after", LATER)], ["attribute.arguments"], id="the original holds another"),
        pytest.param(KEPT, [("original_after", LATER)], [], id="a kept layer is called again, and may hold another"),
        pytest.param(
            ORIGINAL,
            [(f"{place}.weights.0.ident", 100) for place in (S, "again.shape", "twice.shape")],
            ["weight shared"],
            id="shared by all, and told once",
        ),
        pytest.param(
            ORIGINAL,
            [(f"{place}.layers.2.name", "renamed") for place in (S, "again.shape", "twice.shape")],
            ["name"],
            id="wrong in all, and told once",
        ),
        pytest.param(BY_HAND, [(f"{S}.layers.3.name", "cast_7")], [], id="a number that nobody chose"),
        pytest.param(BY_HAND, [(f"{S}.layers.1.name", "c")], ["name"], id="a name in a model made by hand"),
        pytest.param(ORIGINAL, [(f"{S}.layers.0.trainable", False)], [], id="an input has nothing to train"),
        pytest.param(
            ORIGINAL,
            [(f"{S}.layers.2.config", {"get_config": "raises TypeError"})],
            ["config.get_config"],
            id="a config that cannot be read",
        ),
    ],
)
def test_what_is_told_of_a_clone(original: Observation, changes: Changes, aspects: list[str]) -> None:
    checks = [check for check in CHECKS if check not in ("outputs", "functions") or "order" in aspects]
    clone = altered(faithful(original), *changes)
    assert sorted({one.aspect for one in compare(original, clone, checks)}) == aspects


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


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ('Layer "dense_4" was given nothing.', "Dense"),
        ("Requested the deserialization of a `Lambda` layer", "Lambda"),
        ("Expected 'config' to be a dict for method. Full config: {'class_name': 'method'}", None),
    ],
)
def test_a_crash_names_the_frame_of_the_framework_and_the_layer_it_speaks_of(message: str, kind: str | None) -> None:
    (difference,) = compare(ORIGINAL, Clone(failure=replace(FAILURE, message=message)))
    assert difference.raised is not None
    assert difference.raised.frame == "keras/src/models/cloning.py:clone_model"
    assert (difference.first and difference.first.kind) == kind


def test_an_output_names_the_first_step_where_the_runs_part() -> None:
    steps = [(f"{R}.steps.{number}.outputs.0.digest", "x") for number in (3, 4)]
    *_, last = compare(ORIGINAL, altered(CLONE, *steps, (f"{R}.outputs.0.digest", "x")), ["outputs"])
    assert (last.path, last.first and last.first.name) == ("inference.outputs[0]", "lstm_3")


def test_weights_of_other_scopes_and_a_variable_of_no_layer_keep_their_counterparts() -> None:
    loss = Variable("loss/total", -1, (), "float32", False, 600, "zero")
    weights = [replace(weight, name=f"rnn/cell/{weight.name}") for weight in ORIGINAL.shape.weights]
    original = altered(ORIGINAL, ("shape.weights", weights), ("shape.states", [*ORIGINAL.shape.states, loss]))
    renamed = [(f"{S}.weights.{number}.name", f"cell/{ORIGINAL.shape.weights[number].name}") for number in range(4)]
    found = compare(original, altered(faithful(original), *renamed), ["weights"])
    assert {one.aspect for one in found} == {"weight scope"}


@pytest.mark.parametrize("insides", [(0, -1), (1, 0), (-2, -1)], ids=["in itself", "in a circle", "nowhere"])
def test_layers_that_hold_each_other_in_a_circle_are_refused(insides: tuple[int, int]) -> None:
    shape = msgspec.to_builtins(chain("Dense").shape)
    for seen, inside in zip(shape["layers"], insides, strict=True):
        seen["inside"] = inside
    with pytest.raises(msgspec.ValidationError, match="does not come before it"):
        msgspec.convert(shape, Shape)


def test_the_shapes_after_a_call_on_other_arguments_follow_from_it() -> None:
    call = (f"{S}.layers.2.calls.0.args.0", [{"tensor": [1, 0, 0]}])
    shape = (f"{S}.outputs.0.shape", [3])
    (cause,) = causes(ORIGINAL, compare(ORIGINAL, altered(CLONE, call, shape)))
    assert [one.aspect for one in cause.differences] == ["call.args type", "output shape"]


@pytest.mark.parametrize("seed", range(20))
def test_every_difference_has_one_cause(seed: int) -> None:
    drawn = random.Random(seed)
    changes = [case[2][0] for case in drawn.sample(BROKEN, 9) if case[0] not in ("made", "functions")]
    paths = [path for path, _ in changes]
    apart = [
        one for one in changes if GONE is not one[1] and not any(one[0] != p and p.startswith(one[0]) for p in paths)
    ]
    differences = compare(ORIGINAL, altered(CLONE, *apart))
    found = causes(ORIGINAL, differences)
    assert sorted(map(repr, differences)) == sorted(repr(one) for cause in found for one in cause.differences)
    assert len({cause.fingerprint for cause in found}) == len(found)
    assert [cause.severity for cause in found] == sorted(cause.severity for cause in found)
