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

ORIGINAL = chain("Dense", "GRU")

S, R, T = "observation.shape", "observation.inference", "observation.training"
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
    *(
        Place(kind.lower(), kind, 1, container=True)
        for kind in ("Bidirectional", "RNN", "SimpleRNN", "LSTM", "GRU", "Sequential", "Functional")
    ),
]
"""Layers of every sort: in the model, in one inside it, and the seven that hold others."""


def lost(aspect: str, expected: str = "x", found: str = "y", check: str = "structure", path: str = "p") -> set[str]:
    """What something lost is called, on each layer that can lose it."""
    return {fingerprint(Difference(check, path, aspect, expected, found, Severity.PROPERTY, first)) for first in LAYERS}


@pytest.mark.parametrize(
    ("aspect", "check", "again_in"),
    [
        *(
            pytest.param(aspect, "structure", "untouched", id=aspect)
            for aspect in (
                *("call order", "call count", "call.args missing", "call.kwargs extra", "call.kwargs value"),
                *("output tensor", "attribute.supports_masking", "name", "attribute.dtype_policy"),
                *("config.activity_regularizer", "config.batch_input_shape"),
            )
        ),
        *(
            pytest.param(aspect, "weights", "untouched", id=aspect)
            for aspect in ("weight order", "weight scope", "state scope")
        ),
        *(pytest.param(aspect, "own", "again", id=aspect) for aspect in ("not fresh", "weight unshared")),
    ],
)
def test_what_cloning_loses_has_one_name_whichever_layer_lost_it(aspect: str, check: str, again_in: str) -> None:
    assert len(lost(aspect, check=check)) == 1
    assert len(lost(aspect, check=again_in, path="original.layers['x'].p")) == 1


@pytest.mark.parametrize("aspect", ["config.mask", "config.units", "attribute.seed", "config.bias_regularizer"])
def test_what_a_kind_loses_is_called_by_the_kind(aspect: str) -> None:
    assert len(lost(aspect)) == len(LAYERS)


def test_what_cloning_loses_on_any_layer_keeps_the_name_it_had_on_a_plain_one() -> None:
    assert lost("call order") == {"structure-call-order-49466e96"}
    assert lost("attribute.supports_masking") == {"structure-attribute-supports-masking-3b631eb5"}


def test_a_lost_flag_is_a_models_or_a_layers_or_of_what_holds_the_layer() -> None:
    def called(first: Place) -> str:
        return fingerprint(Difference("structure", "p", "trainable", "False", "True", Severity.TRAINS, first))

    frozen = {each.kind: called(each) for each in LAYERS}
    assert frozen.pop("Functional") == called(Place("m", "Model", 1, container=True))
    assert frozen.pop("Sequential") not in frozen.values()
    assert set(frozen.values()) == {"structure-trainable-ab564334"}
    assert called(Place("", "Functional", -1, container=True)) == "structure-trainable-model-042be182"
    held = {
        called(Place(f"b/forward_{kind}", kind, 2, container=True, inside="Bidirectional")) for kind in ("GRU", "LSTM")
    }
    assert len(held) == 1
    assert held.isdisjoint(frozen.values())
    assert called(Place("a/query", "EinsumDense", 2, inside="MultiHeadAttention")) not in held


TUPLE, LIST = '{"tuple": [{"tensor": "x#0.0"}]}', '[{"tensor": "x#0.0"}]'
TENSOR, ARRAY, CONSTANT = '{"tensor": "x#0.0"}', '{"array": {"digest": "1"}}', '{"constant": {"digest": "1"}}'


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
    assert (lost("call.args type", *one) == lost("call.args type", *other)) is alike
    assert lost("call.args type", *one) == lost("call.kwargs type", *one)


def lost_flag(kind: str, inside: str) -> str:
    first = Place("a/b", kind, 2, inside=inside)
    return fingerprint(Difference("structure", "p", "trainable", "False", "True", Severity.TRAINS, first))


def test_layers_of_ones_own_and_of_other_dimensions_lose_the_flags_of_what_they_hold_alike() -> None:
    assert lost_flag("Dense", "Branches") == lost_flag("Dense", "Stack") != lost_flag("Dense", "MultiHeadAttention")
    cells = {lost_flag("ConvLSTMCell", f"ConvLSTM{dimensions}D") for dimensions in (1, 2, 3)}
    assert cells == {"structure-trainable-in-convlstm1d-e6e47901"}


_OF_ANY_KIND = ("attribute.vocabulary", "attribute.use_cudnn", "attribute.compute_dtype", "config.quantization_config")


@pytest.mark.parametrize(
    ("aspects", "kinds", "check"),
    [
        (("config.optional", "config.ragged", "config.sparse"), ("InputLayer",), "structure"),
        (("attribute.vocabulary", "config.vocabulary_size"), ("StringLookup", "TextVectorization"), "structure"),
        (("attribute.use_cudnn",), ("GRU", "LSTM"), "structure"),
        (("config.quantization_config",), ("Dense", "EinsumDense", "Embedding"), "structure"),
        (("attribute.compute_dtype", "attribute.dtype", "attribute.dtype_policy"), ("", "Dense"), "structure"),
    ],
)
def test_what_one_line_loses_of_several_kinds_has_one_name(
    aspects: tuple[str, ...], kinds: tuple[str, ...], check: str
) -> None:
    found = {
        fingerprint(Difference(check, "p", aspect, "x", "y", Severity.PROPERTY, Place("a", kind, 1)))
        for aspect in aspects
        for kind in kinds
    }
    assert len(found) == 1
    other = Difference(check, "p", aspects[0], "x", "y", Severity.PROPERTY, Place("a", "Resizing", 1))
    assert (fingerprint(other) in found) is (aspects[0] in _OF_ANY_KIND)


def test_what_is_lost_in_a_model_of_a_class_of_ones_own_is_lost_in_a_model() -> None:
    def frozen(holder: str, kind: str = "GRU") -> Difference:
        return Difference(
            "structure", "p", "trainable", "False", "True", Severity.TRAINS, Place("m/a", kind, 2, inside=holder)
        )

    own = {fingerprint(each) for each in of_plain_models([frozen("OwnModel_2"), frozen("OwnSequential")])}
    assert own == {fingerprint(frozen("Functional"))} == {fingerprint(frozen("Sequential"))}
    (kind,) = of_plain_models([replace(frozen("OwnModel_2", "OwnModel_3"), aspect="kind")])
    assert kind.first == Place("m/a", "OwnModel", 2, inside="Functional")


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
