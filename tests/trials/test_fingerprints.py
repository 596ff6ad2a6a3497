"""Fingerprints: what a cause is called, and what has one name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from clonediff.harness.subjects.observation import Clone, Failure, Frame
from clonediff.harness.trials.checks import compare
from clonediff.harness.trials.checks.raised import looping
from clonediff.harness.trials.triage import causes, fingerprint, of_plain_models
from clonediff.reports.records import Difference, Place, Raised, Severity

from .checks.making import chain
from .differences import RAISING

ORIGINAL = chain("Masking", "Lambda", "LSTM", "Dense")


@given(counter=st.integers(0, 99), index=st.integers(0, 9), text=st.text(max_size=20))
def test_a_fingerprint_knows_no_counter_index_message_or_value(counter: int, index: int, text: str) -> None:
    other = replace(
        RAISING,
        path=f"clone[{index}]",
        found=text,
        expected=text,
        first=Place(f"inner_{counter}/lambda_{counter}", "Lambda", index, index),
        raised=Raised("ValueError", text, "keras/src/models/functional.py:call"),
        digests=(text, "x"),
    )
    assert fingerprint(other) == fingerprint(RAISING)


@pytest.mark.parametrize(
    "other",
    [
        replace(RAISING, check="again", path="again"),
        replace(RAISING, aspect="nothing"),
        replace(RAISING, first=Place("lambda_1", "Dense", 2)),
        replace(RAISING, raised=Raised("KeyError", "", "keras/src/models/functional.py:call")),
        replace(RAISING, raised=Raised("ValueError", "", "keras/src/models/cloning.py:call")),
    ],
    ids=["check", "aspect", "kind", "exception", "frame"],
)
def test_a_fingerprint_tells_causes_apart(other: Difference) -> None:
    assert fingerprint(other) != fingerprint(RAISING)


def test_a_fingerprint_is_the_same_in_every_process_and_names_a_folder() -> None:
    assert fingerprint(RAISING) == "outputs-raises-lambda-valueerror-238b2977"


LAYERS = [
    Place("minimum", "Minimum", 1),
    Place("my_model/lambda", "Lambda", 2, inside="Functional"),
    *(Place(kind.lower(), kind, 1, container=True) for kind in ("Bidirectional", "RNN", "GRU", "Sequential")),
]
"""Layers of every sort: in the model, in one inside it, and some that hold others."""
TUPLE, LIST = '{"tuple": [{"tensor": "x#0.0"}]}', '[{"tensor": "x#0.0"}]'
TENSOR, ARRAY, CONSTANT = '{"tensor": "x#0.0"}', '{"array": {"digest": "1"}}', '{"constant": {"digest": "1"}}'


def lost(aspect: str, first: Place, expected: str = "x", found: str = "y") -> str:
    return fingerprint(Difference("structure", "p", aspect, expected, found, Severity.PROPERTY, first))


@pytest.mark.parametrize("aspect", ["call order", "call.args missing", "name", "attribute.dtype_policy"])
def test_what_cloning_loses_has_one_name_whichever_layer_lost_it(aspect: str) -> None:
    assert len({lost(aspect, first) for first in LAYERS}) == 1


@pytest.mark.parametrize("aspect", ["config.mask", "attribute.seed", "config.bias_regularizer"])
def test_what_a_kind_loses_is_called_by_the_kind(aspect: str) -> None:
    assert len({lost(aspect, first) for first in LAYERS}) == len(LAYERS)


@pytest.mark.parametrize(
    ("aspects", "kinds"),
    [
        (("config.optional", "config.ragged", "config.sparse"), ("InputLayer",)),
        (("attribute.vocabulary", "config.vocabulary_size"), ("StringLookup", "TextVectorization")),
        (("attribute.compute_dtype", "attribute.dtype", "attribute.dtype_policy"), ("", "Dense")),
    ],
)
def test_what_one_line_loses_has_one_name(aspects: tuple[str, ...], kinds: tuple[str, ...]) -> None:
    assert len({lost(aspect, Place("a", kind, 1)) for aspect in aspects for kind in kinds}) == 1


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        pytest.param((TUPLE, TENSOR), (LIST, TENSOR), True, id="a list and a tuple of one are lost by one line"),
        pytest.param((TUPLE, TENSOR), (TUPLE, LIST), False, id="a tuple that is a list"),
        pytest.param((ARRAY, "[1]"), (CONSTANT, "[1]"), True, id="a constant is an array"),
        pytest.param((ARRAY, "[1]"), (LIST, TENSOR), False, id="an array and a list"),
    ],
)
def test_an_argument_of_another_form_is_called_by_both_forms(
    one: tuple[str, str], other: tuple[str, str], alike: bool
) -> None:
    assert (lost("call.args type", LAYERS[0], *one) == lost("call.args type", LAYERS[0], *other)) is alike


def held(kind: str, inside: str) -> Place:
    return Place("a/b", kind, 2, inside=inside)


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        pytest.param(Place("a", "Dense", 1), held("GRU", "Functional"), True, id="layers"),
        pytest.param(Place("m", "Model", 1, container=True), Place("n", "Functional", 3), True, id="models"),
        pytest.param(Place("a", "Dense", 1), Place("m", "Functional", 1), False, id="a layer and a model"),
        pytest.param(Place("", "Functional"), Place("m", "Functional", 1), False, id="the model and one in it"),
        pytest.param(held("GRU", "Bidirectional"), held("LSTM", "Bidirectional"), True, id="held by one kind"),
        pytest.param(held("Dense", "Branches"), held("Dense", "Stack"), True, id="held by custom layers"),
        pytest.param(held("Dense", "Stack"), held("Dense", "GRU"), False, id="held by two kinds"),
        pytest.param(held("X", "ConvLSTM1D"), held("X", "ConvLSTM3D"), True, id="of other dimensions"),
        pytest.param(held("GRU", "OwnModel_2"), held("GRU", "OwnSequential"), True, id="custom models"),
    ],
)
def test_whose_flag_was_lost(one: Place, other: Place, alike: bool) -> None:
    flags = [Difference("structure", "p", "trainable", "False", "True", Severity.TRAINS, each) for each in (one, other)]
    first, second = map(fingerprint, of_plain_models(flags))
    assert (first == second) is alike


def test_the_class_of_a_model_of_ones_own_is_no_plain_one() -> None:
    kind = Difference("structure", "p", "kind", "x", "y", Severity.PROPERTY, Place("a", "OwnModel_3", 2))
    (own,) = of_plain_models([kind])
    assert own.first == Place("a", "OwnModel", 2)


def test_a_loop_that_does_not_end_has_one_name_wherever_it_was_when_time_ran_out() -> None:
    loop = Frame("tf_keras/src/engine/functional.py", "reconstruct_from_config", 2)
    helpers = [Frame(f"tf_keras/src/utils/{name}.py", "flatten", 3) for name in ("tf_utils", "generic_utils")]
    assert {looping((CALLING[0], loop, *helpers[:count])) for count in range(3)} == {
        "tf_keras/src/engine/functional.py:reconstruct_from_config"
    }
    assert looping(helpers) == "tf_keras/src/utils/generic_utils.py:flatten", "there is nothing else to tell"


def test_a_model_and_a_sequential_refuse_what_they_are_given_alike() -> None:
    def called(*frames: Frame) -> str:
        return raises_when_cloned(Frame("keras/src/models/cloning.py", "clone_model", 1), *frames)

    frames = [Frame("keras/src/models/cloning.py", f"_clone_{kind}_model", 2) for kind in ("functional", "sequential")]
    assert called(frames[0]) == called(frames[1]) != called()
    call = Frame("keras/src/layers/layer.py", "__call__", 4)
    raising = Frame("keras/src/layers/core/lambda_layer.py", "call", 5)
    ways = (("ops/function.py", "_run_through_graph"), ("models/functional.py", "process_node"))
    run, read = (called(Frame(f"keras/src/{file}", function, 3), call, raising) for file, function in ways)
    assert run == read != called(raising)


CALLING = (
    Frame("tf_keras/src/models/cloning.py", "clone_model", 1),
    Frame("tf_keras/src/engine/functional.py", "process_node", 2),
    Frame("tf_keras/src/utils/traceback_utils.py", "error_handler", 3),
    Frame("tf_keras/src/engine/base_layer.py", "__call__", 4),
)


def raises_when_cloned(*frames: Frame, message: str = "x", kind: str = "ValueError") -> str:
    (cause,) = causes(ORIGINAL, compare(ORIGINAL, Clone(failure=Failure(kind, message, frames))))
    return cause.fingerprint


def test_what_a_layer_raises_on_what_it_is_called_with_has_one_name() -> None:
    nested = (Frame("tf_keras/src/engine/functional.py", "call", 5), CALLING[-1])
    checks = Frame("tf_keras/src/engine/input_spec.py", "assert_input_compatibility", 6)
    convolves = Frame("tf_keras/src/layers/convolutional/base_conv.py", "convolution_op", 7)
    raised = {
        raises_when_cloned(*CALLING, checks, message="Input 0 of layer 'lstm_3' is incompatible"),
        raises_when_cloned(*CALLING, checks, message="the layer Dense expects"),
        raises_when_cloned(*CALLING, *nested, checks),
        raises_when_cloned(*CALLING, convolves),
        raises_when_cloned(
            *CALLING[:2], Frame("tf_keras/src/layers/rnn/base_rnn.py", "__call__", 3), CALLING[-1], checks
        ),
    }
    assert len(raised) == 1
    assert raises_when_cloned(*CALLING, checks, kind="StagingError") not in raised
    assert raises_when_cloned(*CALLING[:2], checks) not in raised
    assert raises_when_cloned(*CALLING[:2]) not in raised, "what calls is another's fault than what it calls"


def test_what_is_raised_in_the_machinery_has_one_name_whichever_layer_it_speaks_of() -> None:
    reads = Frame("tf_keras/src/saving/legacy/serialization.py", "class_and_config_for_serialized_keras_object", 2)
    assert (
        len({raises_when_cloned(CALLING[0], reads, message=f"Unknown layer: {kind}") for kind in ("Dense", "LSTM")})
        == 1
    )


def test_the_frame_of_a_layers_own_module_stands_for_its_kind() -> None:
    frame = Raised("ValueError", "", "keras/src/layers/rnn/rnn.py:call")
    names = {fingerprint(replace(RAISING, raised=frame, first=Place(k, k, 1))) for k in ("LSTM", "GRU")}
    assert len(names) == 1


def test_helpers_that_only_raise_do_not_stand_for_a_failure() -> None:
    frames = (
        Frame("keras/src/models/cloning.py", "clone_model", 1),
        Frame("keras/src/layers/core/lambda_layer.py", "from_config", 2),
        Frame("keras/src/layers/core/lambda_layer.py", "_raise_for_lambda_deserialization", 3),
        Frame("keras/src/utils/traceback_utils.py", "error_handler", 4),
        Frame("keras/src/backend/tensorflow/core.py", "cast", 5),
    )
    (cause,) = causes(ORIGINAL, compare(ORIGINAL, Clone(failure=Failure("ValueError", "x", frames))))
    assert cause.root.raised is not None
    assert cause.root.raised.frame == "keras/src/layers/core/lambda_layer.py:from_config"
