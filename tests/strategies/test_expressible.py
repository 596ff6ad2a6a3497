"""Known issues as programs: what is drawn can be the model of each, and a trial of it meets the issue."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.trials.graph_trials import GraphTrials
from clonediff.reports.known import load
from clonediff.strategies.program import Again, Apply, Generation, Input, Nest, Preparation, Scope
from tests.warm_keras import built

KNOWN = load()
INPUTS = {
    "one": Input((1,)),
    "vector": Input((4,)),
    "sequence": Input((3, 4)),
    "image": Input((4, 4, 2)),
    "rgb": Input((4, 4, 3)),
    "optional": Input((4,), optional=True),
    "id": Input((1,), "int32", fill="ids", high=6),
    "word": Input((1,), "string", fill="words"),
}


def arguments(text: str) -> tuple[tuple[str, str], ...]:
    """Each argument of a call with its value, as text."""
    pairs = (pair.partition("=") for pair in re.split(r", (?=\w+=)(?![^(]*\))", text) if pair)
    return tuple((name, value) for name, _, value in pairs)


def of(kind: str, text: str = "", **fields: Any) -> Apply:
    """A layer with the arguments of a text, called on what was made last."""
    return Apply(kind, arguments(text), **fields)


def twice(apply: Apply, packed: str = "list") -> Apply:
    """The call on one tensor two times."""
    return Apply(apply.kind, apply.arguments, apply.tensors * 2, 2, packed, apply.call, apply.after)  # type: ignore[arg-type]


def prepared(line: str, on: int | None = 0) -> dict[str, Any]:
    """What is done to the first layer, or to the model."""
    return {"preparations": (Preparation("it", (line,), on),)}


def compiled(text: str) -> tuple[list[Any], str, dict[str, Any]]:
    """A model that is compiled with these arguments."""
    return [of("Dense", "units=1")], "one", prepared(f"<it>.compile({text})", None)


def a_lambda(text: str, **definitions: str) -> list[Any]:
    """A `Lambda` with the functions that it needs."""
    return [Apply("Lambda", arguments(text), definitions=tuple(definitions.items()))]


FROZEN = {"after": ("trainable = False",)}
DENSE, RELU = of("Dense", "units=1"), of("Activation", 'activation="relu"')
TWO = "@keras.saving.register_keras_serializable()\ndef <transform>(x):\n    return [x, x * 2.0]\n"
MASK = "@keras.saving.register_keras_serializable()\ndef <output_mask>(x, mask=None):\n    return mask\n"
ADD_ONE = TWO.replace("[x, x * 2.0]", "x + 1.0")
NAMED = "def <transform>(x):\n    return x * 2.0\n"
LOOP = "ops.while_loop(lambda v: ops.max(v) < 3.0, lambda v: v + 1.0, <0>, maximum_iterations=3)"
Model = tuple[list[Any], str, dict[str, Any]]

# The id of the issue, and after a blank which of its forms.
KERAS: dict[str, Model] = {
    "activation-lambda": ([of("Dense", "units=1, activation=lambda x: x * 2.0")], "one", {}),
    "unregistered class": ([of("Dense", "units=1, activation=<OwnDouble>(2.0)")], "one", {}),
    "activation-namesake": ([of("Dense", "units=1, activation=ops.gelu")], "one", {}),
    "activation-shared": (
        [
            of("Dense", "units=1, activation=<shared_activation>"),
            of("Dense", "units=1, activation=<shared_activation>", tensors=((0, 0),)),
        ],
        "one",
        {},
    ),
    "adapted-normalization": ([of("Normalization")], "one", prepared("<it>.adapt(np.arange(1, 3).reshape(2, 1) / 2)")),
    "attention-score-mode": ([twice(of("AdditiveAttention", 'score_mode="concat"'))], "sequence", {}),
    "augmentation-names": ([of("RandAugment")], "rgb", {}),
    "bounding-boxes-fill": ([of("MaxNumBoundingBoxes", "max_number=2, fill_value=0")], "image", {}),
    "call-order": ([of("GaussianDropout", "rate=0.5"), Again(0)], "sequence", {"outputs": ((0, 0), (1, 0))}),
    "compile-huber": compiled("loss=keras.losses.Huber(delta=2.0)"),
    "compile-lambda": compiled("loss=lambda y_true, y_pred: ops.mean(ops.abs(y_true - y_pred), axis=-1)"),
    "compile-own-function method": compiled("loss=<ErrorFactor>(2.0).apply"),
    "compile-own-function": compiled("loss=<error_named>"),
    "config-tells-a-part": ([of("Span", "high=3.0")], "vector", {}),
    "spatial-dropout-policy discretization": (
        [of("Discretization", 'bin_boundaries=[0.0], dtype="mixed_bfloat16"')],
        "one",
        {},
    ),
    "frozen-attention jitter": ([of("RandomColorJitter", "hue_factor=0.5", **FROZEN)], "rgb", {}),
    "frozen-attention lookup": (
        [of("TextVectorization", 'vocabulary=["red", "green", "a"], output_sequence_length=3', **FROZEN)],
        "word",
        {},
    ),
    "frozen-attention own": ([of("Branches", "units=4", **FROZEN)], "vector", {}),
    "function-named-like-a-class": ([of("Dense", "units=1, bias_initializer=ops.ones")], "one", {}),
    "function-of-layer": ([of("Dense", "units=4, bias_initializer=np.arange(1, 5) / 2")], "one", {}),
    "given-list layers": ([RELU], "one", {"clone_arguments": "layers"}),
    "given-list": ([RELU], "one", {"clone_arguments": "listed"}),
    "grayscale-seed": ([of("RandomGrayscale", "factor=0.5, seed=7")], "rgb", {}),
    "trainable-without-weights": (
        [twice(of("HashedCrossing", "num_bins=3", **FROZEN))],
        "id",
        {},
    ),
    "identity-gain": ([of("Dense", "units=1, kernel_initializer=keras.initializers.Identity(gain=0.5)")], "one", {}),
    "input-name": ([RELU], "vector", {}),
    "input-options": ([RELU], "optional", {}),
    "lambda-mask": (
        a_lambda("function=<transform>, mask=<output_mask>", transform=ADD_ONE, output_mask=MASK),
        "sequence",
        {},
    ),
    "no-config method": (a_lambda("function=<DoubleFactor>(2.0).apply"), "vector", {}),
    "unregistered": (a_lambda("function=<transform>", transform=NAMED), "one", {}),
    "lambda-output-shapes": (a_lambda("function=<transform>, output_shape=[(1,), (1,)]", transform=TWO), "one", {}),
    "no-config": (a_lambda("function=functools.partial(<double_by>, by=2.0)"), "vector", {}),
    "lambda-refused": (a_lambda("function=lambda x: x * 2.0"), "vector", {}),
    "layer-autocast": ([of("Dense", "units=3, autocast=False")], "vector", {}),
    "set-afterwards layer": ([RELU], "one", prepared("<it>.extra = layers.Dense(4)", None)),
    "layer-twice": ([Nest((DENSE, Again(0, ((0, 0),))), outputs=((1, 0),), sequential=True)], "one", {}),
    "lora-alpha-dense": ([DENSE], "one", prepared("<it>.enable_lora(rank=1, lora_alpha=3)")),
    "model-trainable": ([RELU], "vector", {"frozen": True}),
    "automatic-names": ([of("Offset")], "vector", {}),
    "operation-arguments": ([Apply("ops.while_loop", (("", LOOP),))], "vector", {}),
    "own-option": ([RELU], "one", {"own": "option"}),
    "global-settings": (
        [of("TextVectorization", 'vocabulary=["red", "green", "a"], output_sequence_length=3')],
        "word",
        prepared('keras.config.set_dtype_policy("mixed_bfloat16")', None),
    ),
    "quantized-inside": ([twice(of("MultiHeadAttention", "num_heads=1, key_dim=2"), "each")], "sequence",
                         prepared('<it>.quantize("int8")', None)),
    "random-shear": ([of("RandomShear", "x_factor=0.5")], "rgb", {}),
    "sequential-trainable": ([Nest((DENSE,), sequential=True, frozen=True)], "one", {}),
    "grayscale-seed rnn": ([of("SimpleRNN", "units=3, seed=7")], "sequence", {}),
    "set-afterwards": ([of("DropMask", after=("supports_masking = True",))], "sequence", {}),
    "weight-trainable": ([DENSE], "one", prepared("<it>.kernel.trainable = False")),
}  # fmt: skip
TF_KERAS: dict[str, Model] = {
    "tf-activity-regularizer": ([of("Masking", 'activity_regularizer="l2"')], "sequence", {}),
    "tf-config-tells-a-part": ([of("Span", "high=3.0")], "vector", {}),
    "tf-frozen-own-layer": ([of("Branches", "units=4", **FROZEN)], "vector", {}),
    "tf-set-afterwards": ([of("DropMask", after=("supports_masking = True",))], "sequence", {}),
    "tf-varargs": ([twice(of("SumAll"), "each")], "sequence", {}),
    "tf-list-of-one": ([of("SumList", packed="list")], "vector", {}),
}


@pytest.mark.parametrize(
    ("issue", "generation"),
    [*((issue, "keras") for issue in KERAS), *((issue, "tf_keras") for issue in TF_KERAS)],
)
def test_an_issue_is_met_on_its_program(
    issue: str, generation: Generation, warm: Callable[[str], SubjectProcess]
) -> None:
    body, name, fields = {**KERAS, **TF_KERAS}[issue]
    issue = issue.partition(" ")[0]
    graph = built(*body, inputs=(INPUTS[name],), generation=generation, **fields)
    trials = GraphTrials(warm(generation), KNOWN, cloners=("upstream",))
    hits = trials.try_graph(graph, costly=True).hits
    assert issue in {hit.known.id for hit in hits if hit.known is not None}, ([hit.title for hit in hits], graph)


def test_a_function_is_found_within_a_scope(keras: SubjectProcess) -> None:
    layer = of("Dense", 'units=1, kernel_initializer="halves"')
    graph = built(layer, inputs=(Input((1,)),), scope=Scope("halves", "model"))
    assert "with keras.utils.custom_object_scope" in graph.source
    hits = GraphTrials(keras, KNOWN, cloners=("upstream",)).try_graph(graph, costly=False).hits
    assert any(hit.cause is not None and hit.cause.root.check == "made" for hit in hits)
