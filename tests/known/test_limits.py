"""Trials that show limits, which have no scripts, and other models that show a bug."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.trials.graph_trials import GraphTrials
from clonediff.reports.known import load
from clonediff.strategies.program import Again, Apply, Input, Preparation
from tests.helpers.drawn_graphs import graph_of

KNOWN = load()
ONE, VECTOR, SEQUENCE, RGB = Input((1,)), Input((4,)), Input((3, 4)), Input((4, 4, 3))
ID, WORD = Input((1,), "int32", fill="ids", high=6), Input((1,), "string", fill="words")


def call_of(kind: str, text: str = "", **fields: Any) -> Apply:
    """Return a call of a layer on the previous output; `text` has its arguments."""
    pairs = (pair.partition("=") for pair in re.split(r", (?=\w+=)(?![^(]*\))", text) if pair)
    return Apply(kind, tuple((name, value) for name, _, value in pairs), **fields)


def call_twice(kind: str, text: str, packed: str = "list", **fields: Any) -> Apply:
    """Return a call of a layer on two tensors, which are both the previous output."""
    return call_of(kind, text, tensors=((-1, 0), (-1, 0)), count=2, packed=packed, **fields)


def preparation_of(line: str, on: int | None = 0) -> dict[str, Any]:
    """Return a preparation of the first layer, or of the model if `on` is None."""
    return {"preparations": (Preparation("it", (line,), on),)}


DENSE = call_of("Dense", "units=1")
FROZEN_LAYER = {"after": ("trainable = False",)}
MASKING_LAYER = {"after": ("supports_masking = True",)}
WORDS = call_of("TextVectorization", 'vocabulary=["red", "green", "a"], output_sequence_length=3')
FROZEN_WORDS = Apply(WORDS.kind, WORDS.arguments, after=FROZEN_LAYER["after"])
DEFINITION = {"definitions": (("transform", "def <transform>(x):\n    return x * 2.0\n"),)}
SHARED_UNIT = "units=1, activation=<shared_activation>"
MODELS: list[tuple[str, Input, list[Any], dict[str, Any]]] = [
    ("unregistered", ONE, [call_of("Dense", "units=1, activation=<OwnDouble>(2.0)")], {}),
    ("unregistered", ONE, [call_of("Lambda", "function=<transform>", **DEFINITION)], {}),
    ("activation-shared", ONE, [call_of("Dense", SHARED_UNIT), call_of("Dense", SHARED_UNIT, tensors=((0, 0),))], {}),
    ("attention-score-mode", SEQUENCE, [call_twice("AdditiveAttention", 'score_mode="concat"')], {}),
    ("augmentation-names", RGB, [call_of("RandAugment")], {}),
    ("automatic-names", VECTOR, [call_of("Offset")], {}),
    ("call-order", SEQUENCE, [call_of("GaussianDropout", "rate=0.5"), Again(0)], {"outputs": ((0, 0), (1, 0))}),
    ("config-tells-a-part", VECTOR, [call_of("Span", "high=3.0")], {}),
    ("compile-own-function", ONE, [DENSE], preparation_of("<it>.compile(loss=<ErrorFactor>(2.0).apply)", None)),
    ("frozen-attention", RGB, [call_of("RandomColorJitter", "hue_factor=0.5", **FROZEN_LAYER)], {}),
    ("frozen-attention", WORD, [FROZEN_WORDS], {}),
    ("frozen-attention", VECTOR, [call_of("Branches", "units=4", **FROZEN_LAYER)], {}),
    ("given-list", Input((1,), name="x"), [call_of("ReLU")], {"clone_arguments": "layers"}),
    ("global-settings", WORD, [WORDS], preparation_of('keras.config.set_dtype_policy("mixed_bfloat16")', None)),
    ("grayscale-seed", SEQUENCE, [call_of("SimpleRNN", "units=3, seed=7")], {}),
    ("no-config", VECTOR, [call_of("Lambda", "function=<DoubleFactor>(2.0).apply")], {}),
    ("no-config", VECTOR, [call_of("Lambda", "function=functools.partial(<double_by>, by=2.0)")], {}),
    ("set-afterwards", ONE, [call_of("ReLU")], preparation_of("<it>.extra = layers.Dense(4)", None)),
    ("set-afterwards", SEQUENCE, [call_of("DropMask", **MASKING_LAYER)], {}),
    ("spatial-dropout-policy", ONE, [call_of("Discretization", 'bin_boundaries=[0.0], dtype="mixed_bfloat16"')], {}),
    ("trainable-without-weights", ID, [call_twice("HashedCrossing", "num_bins=3", **FROZEN_LAYER)], {}),
    ("weight-trainable", ONE, [DENSE], preparation_of("<it>.kernel.trainable = False")),
    ("tf-config-tells-a-part", VECTOR, [call_of("Span", "high=3.0")], {}),
    ("tf-set-afterwards", SEQUENCE, [call_of("DropMask", **MASKING_LAYER)], {}),
]


@pytest.mark.parametrize(
    ("issue", "spec", "body", "fields"), MODELS, ids=[f"{KNOWN.get(issue).generation}-{issue}" for issue, *_ in MODELS]
)
def test_a_trial_shows_the_known_issue(
    issue: str, spec: Input, body: list[Any], fields: dict[str, Any], warm: Callable[[str], SubjectProcess]
) -> None:
    generation = KNOWN.get(issue).generation
    graph = graph_of(*body, inputs=(spec,), generation=generation, **fields)
    causes = GraphTrials(warm(generation), KNOWN, cloners=("upstream",)).try_graph(graph, costly=True).found_causes
    assert issue in {cause.known.id for cause in causes if cause.known}, ([cause.title for cause in causes], graph)
