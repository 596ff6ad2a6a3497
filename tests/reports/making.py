"""Runs made for tests: folders as `clonediff fuzz` writes them, with as many findings as a test asks for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from clonediff.reports.records import Box, Counts, Difference, Finding, Numbers, Place, Raised, Run, Severity
from clonediff.reports.run_folder import RunFolder
from clonediff.strategies.program import Graph, Input, to_json
from tests.example_graphs import of_source

VERSIONS = {"keras": "3.15.1", "tensorflow": "2.21.0", "python": "3.11.7"}

TWO = of_source(
    """\
import keras
from keras import layers

inputs = keras.Input(shape=(3, 4))
dense = layers.Dense(4)
model = keras.Model(inputs, layers.LSTM(2)(dense(dense(layers.Masking()(inputs)))))
""",
    Input((3, 4), fill="steps"),
)
"""A shared Dense, and a mask."""

_DIFFERENCES = (
    Difference("outputs", "call.outputs[0]", "value", "a1", "b2", Severity.COMPUTES, Place("lstm", "LSTM", 6),
               digests=("a1", "b2"), numbers=Numbers(0.25, 3, 12, (0, 1), "0.5", "0.25")),
    Difference("made", "clone", "raises", "a clone", "ValueError: no", Severity.CRASHES, Place("lambda", "Lambda", 3),
               Raised("ValueError", "no", "keras/src/layers/core/lambda_layer.py:from_config")),
    Difference("structure", "layers['dense'].trainable", "trainable", "false", "true", Severity.TRAINS,
               Place("dense", "Dense", 2, 1)),
    Difference("masks", "call.outputs[1]", "mask lost", "a mask", "no mask", Severity.PROPERTY,
               Place("inner/dense_1", "Dense", 5)),
    Difference("structure", "model.name", "name", "functional", "functional_1", Severity.NAME,
               Place("functional", "Functional", -1, container=True)),
)  # fmt: skip
"""One of each severity."""


_LAYERS = (
    Box("x#0", "x", "InputLayer"),
    Box("dense#0", "dense", "Dense", ("x#0.0",)),
    Box("dense#1", "dense", "Dense", ("dense#0.0",)),
    Box("inner#0", "inner", "Functional", ("dense#1.0",)),
    Box("inner/y#0", "y", "InputLayer", (), "inner"),
    Box("inner/lstm#0", "lstm", "LSTM", ("inner/y#0.0",), "inner"),
)
PICTURES = (
    _LAYERS,
    (*_LAYERS[:3], Box("inner#0", "inner", "Functional", ("dense#0.0",)), Box("new add#0", "add", "Add")),
)
"""A model whose clone takes another tensor, and has another layer for what is nested."""


def finding(number: int = 0, graph: Graph = TWO, **changes: Any) -> Finding:
    """A finding; its number makes it one of its own."""
    root, follower = _DIFFERENCES[number % 5], _DIFFERENCES[-1]
    made = Finding(
        id=f"{root.check}-{root.aspect.replace(' ', '-')}-{number:08x}",
        title=f"{root.first.kind if root.first else 'a model'}: {root.aspect} ({number})",
        generation="keras",
        cloner="upstream",
        graph=msgspec.Raw(to_json(graph)),
        differences=(root,) if root.check == "made" else (root, follower),
        source=f"import keras\n\nprint({number})\n",
        versions=VERSIONS,
        subject="keras",
        first_seen="2026-11-21T02:00:07+00:00",
        proof=True,
        pictures=PICTURES,
    )
    return msgspec.structs.replace(made, **changes)


def a_run(**changes: Any) -> Run:
    """A run on two subjects that met two known issues; another could not be tried."""
    keras = Counts(
        graphs=300,
        verdicts={"fixed": {"faithful": 300}, "upstream": {"crashed": 12, "diverged": 278, "faithful": 10}},
        worst={"upstream": {"crashes": 12, "trains": 8, "name": 270}},
        known={"lambda-refused": {"crashes": 12}, "input-name": {"name": 286, "property": 4}},
    )
    run = Run(
        started="2026-11-21T02:00:00+00:00",
        subjects=("keras", "keras/jax"),
        seed=7,
        minutes=60,
        jobs=2,
        clonediff="0.1.0",
        seconds=100.0,
        ended=True,
        versions={"keras": VERSIONS},
        counts={"keras": keras},
    )
    return msgspec.structs.replace(run, **changes)


def run_folder(path: Path, findings: Sequence[Finding] = (), run: Run | None = None) -> Path:
    """Write a folder as a campaign leaves it."""
    folder = RunFolder(path)
    for made in findings:
        folder.finding(made)
    folder.run(run or a_run())
    return path
