"""Example runs and findings, as the JSON in the files that `clonediff fuzz` writes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from clonediff.reports.records import Finding
from clonediff.strategies.program import Graph, Input, to_json
from tests.helpers.example_graphs import graph_of_source

Json = dict[str, Any]

VERSIONS = {"keras": "3.15.1", "tensorflow": "2.21.0", "python": "3.11.7"}

SHARED = graph_of_source(
    """\
import keras
from keras import layers

inputs = keras.Input(shape=(3, 4))
dense = layers.Dense(4)
model = keras.Model(inputs, layers.LSTM(2)(dense(dense(layers.Masking()(inputs)))))
""",
    Input((3, 4), fill="steps"),
)
"""A graph with a shared Dense and a mask."""


def difference(check: str, path: str, aspect: str, sides: tuple[str, str], severity: int, **fields: Any) -> Json:
    """Return a difference; `fields` has its optional fields."""
    part, _, change = aspect.partition(" ") if aspect not in ("value", "raises") else ("", "", aspect)
    common = {"check": check, "location": path, "part": part, "change": change, "severity": severity}
    return {**common, "expected": sides[0], "found": sides[1], **fields}


_RAISED = {"type": "ValueError", "message": "no", "frame": "keras/src/layers/core/lambda_layer.py:from_config"}
_NUMBERS = {"max_abs": 0.25, "differing": 3, "total": 12, "index": [0, 1], "expected": "0.5", "found": "0.25"}
_DIFFERENCES = (
    difference("outputs", "call.outputs[0]", "value", ("a1", "b2"), 1, first={"name": "lstm", "kind": "LSTM"},
               digests=["a1", "b2"], numbers=_NUMBERS),
    difference("made", "clone", "raises", ("a clone", "ValueError: no"), 0, first={"name": "lambda", "kind": "Lambda"},
               raised=_RAISED),
    difference("structure", "layers['dense'].trainable", "trainable", ("false", "true"), 2,
               first={"name": "dense", "kind": "Dense", "layer": 2, "use": 1}),
    difference("masks", "call.outputs[1]", "mask lost", ("a mask", "no mask"), 3,
               first={"name": "inner/dense_1", "kind": "Dense"}),
    difference("structure", "model.name", "name", ("functional", "functional_1"), 4,
               first={"name": "functional", "kind": "Functional", "container": True}),
)  # fmt: skip
"""One difference of each severity."""


def box(call: str, kind: str, *inputs: str, inside: str = "") -> Json:
    """Return a call in a picture."""
    name = call.rpartition("/")[2].partition("#")[0]
    return {"call": call, "name": name.removeprefix("new "), "kind": kind, "inputs": inputs, "inside": inside}


_LAYERS = (
    box("x#0", "InputLayer"),
    box("dense#0", "Dense", "x#0.0"),
    box("dense#1", "Dense", "dense#0.0"),
    box("inner#0", "Functional", "dense#1.0"),
    box("inner/y#0", "InputLayer", inside="inner"),
    box("inner/lstm#0", "LSTM", "inner/y#0.0", inside="inner"),
)
PICTURES = (_LAYERS, (*_LAYERS[:3], box("inner#0", "Functional", "dense#0.0"), box("new add#0", "Add")))
"""Pictures of a model and its clone, which takes another tensor and has another nested layer."""


def finding(number: int = 0, graph: Graph = SHARED, **changes: Any) -> Json:
    """Return a finding; each number gives another one."""
    root, follower = _DIFFERENCES[number % 5], _DIFFERENCES[-1]
    aspect = f"{root['part']} {root['change']}".strip()
    return {
        "id": f"{root['check']}-{aspect.replace(' ', '-')}-{number:08x}",
        "title": f"{root['first']['kind']}: {aspect} ({number})",
        "generation": "keras",
        "cloner": "upstream",
        "graph": json.loads(to_json(graph)),
        "differences": [root] if root["check"] == "made" else [root, follower],
        "source": f"import keras\n\nprint({number})\n",
        "versions": VERSIONS,
        "subject": "keras",
        "first_seen": "2026-11-21T02:00:07+00:00",
        "proof": True,
        "pictures": PICTURES,
        **changes,
    }


def example_finding(number: int = 0, graph: Graph = SHARED, **changes: Any) -> Finding:
    """Return a finding as an object of a campaign."""
    decoded = msgspec.json.decode(json.dumps(finding(number, graph, **changes)), type=Finding)
    return msgspec.structs.replace(decoded, graph=msgspec.Raw(to_json(graph)))


def counts(**changes: Any) -> Json:
    """Return the counts of upstream and fixed on the graphs of a subject."""
    return {
        "graphs": 300,
        "verdicts": {"fixed": {"faithful": 300}, "upstream": {"crashed": 12, "diverged": 278, "faithful": 10}},
        "worst": {"upstream": {"crash": 12, "wrong-training": 8, "renamed": 270}},
        "known": {"lambda-refused": {"crash": 12}, "input-name": {"renamed": 286, "lost-property": 4}},
        **changes,
    }


def example_run(**changes: Any) -> Json:
    """Return a run on two subjects, which found two known issues; a third subject was not tried."""
    return {
        "started": "2026-11-21T02:00:00+00:00",
        "subjects": ["keras", "keras/jax"],
        "seed": 7,
        "minutes": 60,
        "jobs": 2,
        "clonediff": "0.1.0",
        "seconds": 100.0,
        "ended": True,
        "versions": {"keras": VERSIONS},
        "counts": {"keras": counts()},
        **changes,
    }


def write(path: Path, content: bytes) -> None:
    """Write a file; create the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def write_run(path: Path, findings: Sequence[Json] = (), run: Json | None = None) -> Path:
    """Write a run folder as a campaign does."""
    for number, stored in enumerate(findings):
        write(path / "findings" / f"keras-{number:03}" / "finding.json", json.dumps(stored).encode())
    write(path / "run.json", json.dumps(run or example_run()).encode())
    return path
