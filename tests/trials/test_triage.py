"""What a trial comes to: a verdict, whose fault it is, what a cause is called, and what else is told of it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from clonediff.harness.subjects.observation import Clone, Failure, Frame, Observation
from clonediff.harness.trials.checks import compare
from clonediff.harness.trials.checks.made import looping
from clonediff.harness.trials.triage import Verdict, alike, causes, fingerprint, of_plain_models, verdict, with_blame
from clonediff.reports.records import Blame, Cause, Difference, Place, Raised, Severity

from .making import chain, gives, layer, observed

CALL = "keras/src/models/functional.py:call"
RAISING = Difference(
    *("outputs", "inference", "raises", "it runs", "ValueError: Lambda lambda_1 at 0x7f00", Severity.CRASHES),
    *(Place("lambda_1", "Lambda", 2), Raised("ValueError", "lambda_1 at 0x7f00", CALL)),
)
MADE = replace(RAISING, check="made")


def test_verdicts() -> None:
    assert verdict([]) is Verdict.FAITHFUL
    assert verdict([MADE]) is Verdict.CRASHED
    assert verdict([RAISING]) is Verdict.DIVERGED
    for aspect, ended in (("process timed out", Verdict.TIMED_OUT), ("process SIGSEGV", Verdict.KILLED)):
        assert verdict([replace(MADE, aspect=aspect)]) is ended


def test_blame_goes_three_ways() -> None:
    def cause(check: str, frame: str = "") -> Cause:
        root = Difference(check, "p", "value", "", "", Severity.COMPUTES, Place("a", "A", 1), Raised("E", "", frame))
        return Cause(fingerprint(root), root)

    upstream, both, ours = cause("outputs"), cause("masks", frame="keras/x.py:f"), cause("weights")
    theirs = cause("masks", frame="fixed/y.py:g")
    assert alike(both, theirs)
    found = with_blame({"upstream": [upstream, both], "fixed": [theirs, ours], "other": [ours]})
    assert {cloner: [one.blame for one in blamed] for cloner, blamed in found.items()} == {
        "upstream": [Blame.UPSTREAM, Blame.BOTH],
        "fixed": [Blame.BOTH, Blame.OURS],
        "other": [Blame.ITS_OWN],
    }
    for no_chance in ({}, {"upstream": [Cause("raised", MADE)]}):
        assert [one.blame for one in with_blame({**no_chance, "fixed": [ours]})["fixed"]] == [Blame.UNKNOWN]


INPUT = layer("input", "InputLayer", 0)
ON_INPUT = {"tensor": [0, 0, 0]}
GELU = "function gelu 1235eda2"


def called(args: list[Any]) -> Observation:
    return observed([INPUT, layer("s", "SumList", 1, replace(gives([0, 0, 0]), args=args))], [1])


def with_lambda(mask: str) -> Observation:
    return observed([INPUT, replace(layer("l", "Lambda", 1, gives([0, 0, 0])), config={"mask": mask})], [1])


def raising(calling: str) -> Difference:
    raised = Raised("ValueError", "no", "b.py:inner", calling)
    return Difference("made", "clone", "raises", "a clone", "ValueError: no", Severity.CRASHES, None, raised)


def activation(expected: str, found: str) -> Difference:
    return Difference(
        "structure", "p", "attribute.activation", expected, found, Severity.COMPUTES, Place("d", "Dense", 1)
    )


@pytest.mark.parametrize(
    ("original", "root", "given"),
    [
        pytest.param(called([[ON_INPUT]]), raising("a.py:call"), ["a list of one tensor"], id="a list of one"),
        pytest.param(called([{"tuple": [ON_INPUT]}]), raising("a.py:call"), ["a list of one tensor"], id="a tuple"),
        pytest.param(called([[ON_INPUT]]), raising(""), [], id="not raised in a call"),
        pytest.param(called([[ON_INPUT, ON_INPUT]]), raising("a.py:call"), [], id="a list of two"),
        pytest.param(with_lambda("function mask db8b"), raising(""), ["a Lambda with a mask"], id="a mask"),
        pytest.param(with_lambda("None"), raising(""), [], id="no mask"),
        pytest.param(
            chain("Dense"),
            activation(GELU, "function gelu 4ccbd530"),
            ["a function of the same name"],
            id="a function in the place of its namesake",
        ),
        pytest.param(chain("Dense"), activation(GELU, "function linear 4ccbd530"), [], id="another function"),
    ],
)
def test_a_cause_tells_what_of_the_model_may_be_behind_it(
    original: Observation, root: Difference, given: list[str]
) -> None:
    assert [cause.given for cause in causes(original, [root], ("step",))] == [("step", *given)]


@given(counter=st.integers(0, 99), index=st.integers(0, 9), text=st.text(max_size=20))
def test_a_fingerprint_knows_no_counter_index_message_or_value(counter: int, index: int, text: str) -> None:
    place = Place(f"inner_{counter}/lambda_{counter}", "Lambda", index, index)
    raised = Raised("ValueError", text, CALL)
    fields = {"path": f"clone[{index}]", "found": text, "expected": text, "digests": (text, "x")}
    other = replace(RAISING, first=place, raised=raised, **fields)
    assert fingerprint(other) == fingerprint(RAISING) == "outputs-raises-lambda-valueerror-238b2977"


def lost(aspect: str, place: Place, expected: str = "x", found: str = "y") -> Difference:
    return Difference("structure", "p", aspect, expected, found, Severity.PROPERTY, place)


def frozen(kind: str, inside: str = "", name: str = "a/b", layer: int = 2) -> Difference:
    return lost("trainable", Place(name, kind, layer, inside=inside), "False", "True")


def refused(*frames: str, message: str = "x", kind: str = "ValueError") -> Difference:
    """What a cloner raises in these frames."""
    seen = tuple(Frame(*frame.rsplit(":", 1), line) for line, frame in enumerate(frames))
    (difference,) = compare(chain("Dense", "LSTM"), Clone(failure=Failure(kind, message, seen)))
    return difference


DENSE, GRU, LOOKUP = (
    Place("a", "Dense", 1),
    Place("m/gru", "GRU", 2, inside="Bidirectional"),
    Place("l", "StringLookup", 1),
)
INPUT_LAYER = Place("x", "InputLayer", 1)
TUPLE, LIST = '{"tuple": [{"tensor": "x#0.0"}]}', '[{"tensor": "x#0.0"}]'
TENSOR, ARRAY, CONSTANT = '{"tensor": "x#0.0"}', '{"array": {"digest": "1"}}', '{"constant": {"digest": "1"}}'
CLONING = "tf_keras/src/models/cloning.py:clone_model"
NODE = "tf_keras/src/engine/functional.py:process_node"
LAYER_CALL = "tf_keras/src/engine/base_layer.py:__call__"
SPEC = "tf_keras/src/engine/input_spec.py:assert_input_compatibility"
KERAS_CLONING = "keras/src/models/cloning.py:clone_model"
KERAS_CALL = ("keras/src/layers/layer.py:__call__", "keras/src/layers/core/lambda_layer.py:call")
IN_RNN = Raised("ValueError", "", "keras/src/layers/rnn/rnn.py:call")
FORM = "call.args type"


@pytest.mark.parametrize(
    ("differences", "names"),
    [
        pytest.param([RAISING, replace(RAISING, check="again", path="again")], 2, id="checks"),
        pytest.param([RAISING, replace(RAISING, aspect="no longer raises")], 2, id="aspects"),
        pytest.param([RAISING, replace(RAISING, first=DENSE)], 2, id="kinds"),
        pytest.param([RAISING, replace(RAISING, raised=Raised("KeyError", "", CALL))], 2, id="exceptions"),
        pytest.param([RAISING, replace(RAISING, raised=Raised("ValueError", "", CLONING))], 2, id="frames"),
        pytest.param(
            [replace(RAISING, raised=IN_RNN, first=place) for place in (DENSE, GRU)], 1, id="a frame of a kind"
        ),
        *(
            pytest.param([lost(aspect, place) for place in (DENSE, GRU)], 1, id=f"{aspect} of any layer")
            for aspect in ("call order", "call.args missing", "name", "attribute.dtype_policy")
        ),
        *(
            pytest.param([lost(aspect, place) for place in (DENSE, GRU)], 2, id=f"{aspect} of a kind")
            for aspect in ("config.mask", "attribute.seed", "config.bias_regularizer")
        ),
        pytest.param([lost(f"config.{it}", INPUT_LAYER) for it in ("optional", "ragged", "sparse")], 1, id="options"),
        pytest.param(
            [lost(f"attribute.{it}", GRU) for it in ("compute_dtype", "dtype", "dtype_policy")], 1, id="dtypes"
        ),
        pytest.param([lost(FORM, DENSE, it, TENSOR) for it in (TUPLE, LIST)], 1, id="a list and a tuple of one"),
        pytest.param([lost(FORM, DENSE, TUPLE, it) for it in (TENSOR, LIST)], 2, id="a tuple that is a list"),
        pytest.param([frozen("Dense"), frozen("GRU", "Functional")], 1, id="flags of layers"),
        pytest.param([frozen("Dense"), frozen("Functional")], 2, id="flags of a layer and of a model"),
        pytest.param([frozen(it, "Bidirectional") for it in ("GRU", "LSTM")], 1, id="flags held by one kind"),
        pytest.param([frozen("Dense", it) for it in ("Branches", "Stack")], 1, id="flags held by custom layers"),
        pytest.param([frozen("GRU", it) for it in ("OwnModel_2", "OwnSequential")], 1, id="flags in custom models"),
        pytest.param(
            [
                refused(KERAS_CLONING, f"keras/src/models/cloning.py:_clone_{it}_model")
                for it in ("functional", "sequential")
            ],
            1,
            id="a model and a Sequential refuse alike",
        ),
        pytest.param(
            [
                refused(KERAS_CLONING, f"keras/src/{it}", *KERAS_CALL)
                for it in ("ops/function.py:_run_through_graph", "models/functional.py:process_node")
            ],
            1,
            id="two ways to run a graph",
        ),
        pytest.param(
            [
                refused(CLONING, NODE, LAYER_CALL, SPEC, message="Input 0 of layer 'lstm_2' is incompatible"),
                refused(CLONING, NODE, LAYER_CALL, SPEC, message="the layer Dense expects"),
                refused(CLONING, NODE, LAYER_CALL, "tf_keras/src/engine/functional.py:call", LAYER_CALL, SPEC),
                refused(CLONING, NODE, "tf_keras/src/layers/rnn/base_rnn.py:__call__", LAYER_CALL, SPEC),
            ],
            1,
            id="what layers raise where they are called",
        ),
        pytest.param(
            [refused(CLONING, NODE, LAYER_CALL, SPEC), refused(CLONING, NODE, SPEC), refused(CLONING, NODE)],
            3,
            id="what calls a layer, and what it calls",
        ),
        pytest.param(
            [
                refused(CLONING, "tf_keras/src/saving/legacy/serialization.py:read", message=f"Unknown: {it}")
                for it in ("Dense", "LSTM")
            ],
            1,
            id="what the machinery raises, whichever layer it speaks of",
        ),
    ],
)
def test_what_has_one_name(differences: list[Difference], names: int) -> None:
    assert len(set(map(fingerprint, of_plain_models(differences)))) == names


def test_a_loop_that_does_not_end_has_one_name_wherever_it_was_when_time_ran_out() -> None:
    loop = Frame("tf_keras/src/engine/functional.py", "reconstruct_from_config", 2)
    helper = Frame("tf_keras/src/utils/tf_utils.py", "flatten", 3)
    assert looping([loop]) == looping([loop, helper]) == "tf_keras/src/engine/functional.py:reconstruct_from_config"
    assert looping([helper]) == "tf_keras/src/utils/tf_utils.py:flatten", "there is nothing else to tell"
