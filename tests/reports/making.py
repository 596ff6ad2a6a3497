"""Runs made for tests: folders as `clonediff fuzz` writes them, with as many findings as a test asks for."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from clonediff.reports.reading import slug
from clonediff.reports.records import (
    Budget,
    Difference,
    Finding,
    KnownMet,
    Numbers,
    Place,
    Raised,
    Run,
    Severity,
    write,
    write_bytes,
)
from clonediff.strategies import Graph, from_json, to_json
from tests.example_graphs import EXAMPLES

START = datetime(2026, 11, 21, 2, 0, 0, tzinfo=UTC)
HOSTILE = '</script><img src=x onerror="window.hacked=1"><!--\' onfocus=\'x" onfocus="x&lt;\u202e\x00\x1b`${1}|@all'
VERSIONS = {"keras": "3.15.1", "tensorflow": "2.21.0", "python": "3.11.7"}

TWO = from_json(
    json.dumps(
        {
            "inputs": [{"shape": [3, 4], "fill": "steps"}],
            "layers": [
                {"kind": "Masking", "args": [["mask_value", 0.0]]},
                {"kind": "Dense", "args": [["units", 4]]},
                {
                    "kind": "Lambda",
                    "args": [
                        [
                            "function",
                            {"is": "function", "form": "named", "gives": ["x", "x * 2.0"], "container": "list"},
                        ]
                    ],
                },
                {
                    "kind": "Model",
                    "name": "inner",
                    "graph": {
                        "inputs": [{"shape": [3, 4]}],
                        "layers": [{"kind": "Dense", "args": [["units", 4]]}, {"kind": "Add"}],
                        "calls": [
                            {"layer": 0, "args": [{"is": "ref", "node": 0}]},
                            {
                                "layer": 1,
                                "args": [{"is": "seq", "items": [{"is": "ref", "node": 0}, {"is": "ref", "node": 1}]}],
                            },
                        ],
                        "takes": {"is": "ref", "node": 0},
                        "gives": {"is": "ref", "node": 2},
                    },
                },
                {"kind": "LSTM", "args": [["units", 2]]},
            ],
            "calls": [
                {"layer": 0, "args": [{"is": "ref", "node": 0}]},
                {"layer": 1, "args": [{"is": "ref", "node": 1}]},
                {"layer": 2, "args": [{"is": "ref", "node": 2}], "outputs": 2},
                {"layer": 3, "args": [{"is": "ref", "node": 3}]},
                {"layer": 1, "args": [{"is": "ref", "node": 3, "output": 1}]},
                {"layer": 3, "args": [{"is": "ref", "node": 5}]},
                {"layer": 4, "args": [{"is": "ref", "node": 6}], "outputs": 1},
            ],
            "takes": {"is": "ref", "node": 0},
            "gives": {"is": "seq", "items": [{"is": "ref", "node": 7}, {"is": "ref", "node": 4}], "form": "tuple"},
            "generation": "keras",
        }
    )
)
"""A shared Dense, a model called twice, a Lambda of two outputs, a mask."""


def difference(number: int = 0, **changes: Any) -> Difference:
    """A difference of one kind or another."""
    kinds = (
        Difference("outputs", "call.outputs[0]", "value", "a1", "b2", Severity.COMPUTES, Place("lstm", "LSTM", 6),
                   digests=("a1", "b2"), numbers=Numbers(0.25, 3, 12, (0, 1), "0.5", "0.25")),
        Difference("made", "clone", "raises", "a clone", "ValueError: no", Severity.CRASHES,
                   Place("lambda", "Lambda", 3),
                   Raised("ValueError", "no", "keras/src/layers/core/lambda_layer.py:from_config")),
        Difference("structure", "layers['dense'].trainable", "trainable", "false", "true", Severity.TRAINS,
                   Place("dense", "Dense", 2, 1)),
        Difference("masks", "call.outputs[1]", "mask lost", "a mask", "no mask", Severity.PROPERTY,
                   Place("inner/dense_1", "Dense", 5)),
        Difference("structure", "model.name", "name", "functional", "functional_1", Severity.NAME,
                   Place("functional", "Functional", -1, container=True)),
    )  # fmt: skip
    return msgspec.structs.replace(kinds[number % len(kinds)], **changes)


def finding(number: int = 0, graph: Graph = TWO, **changes: Any) -> Finding:
    """A finding; its number makes it one of its own."""
    root = difference(number)
    follower = difference(number + 1) if root.check != "made" and number % 5 != 0 else difference(4)
    made = Finding(
        id=f"{root.check}-{root.aspect.replace(' ', '-')}-{number:08x}",
        title=f"{root.first.kind if root.first else 'a model'}: {root.aspect} ({number})",
        generation="keras",
        cloner="upstream",
        graph=msgspec.Raw(to_json(graph)),
        differences=(root,) if root.check == "made" else (root, follower),
        source="import keras\n",
        versions=VERSIONS,
    )
    return msgspec.structs.replace(made, **changes)


def run_folder(
    path: Path,
    findings: Sequence[Finding] = (),
    *,
    run: Run | None = None,
    progress: Sequence[int] = (),
    proven: bool = True,
) -> Path:
    """Write a folder as a search leaves it: its run, its events, its findings."""
    events: list[dict[str, Any]] = [{"event": "subject", "subject": "keras", "versions": VERSIONS}]
    events += [{"event": "progress", "trials": trials} for trials in progress]
    for each in findings:
        subject = each.subject or "keras"
        proof = True if proven and each.cloner == "upstream" and each.proof is None else each.proof
        first_seen = each.first_seen or _at(len(events))
        events.append(
            {"event": "finding", "id": each.id, "subject": subject, "cloner": each.cloner, "title": each.title}
        )
        if proof is not None:
            events.append({"event": "proof", "id": each.id, "subject": subject, "reproduced": proof})
        folder = path / "findings" / slug(subject, each.cloner or "original", each.id)
        whole = msgspec.structs.replace(each, subject=subject, first_seen=first_seen, proof=proof)
        write(folder / "finding.json", whole)
        write_bytes(folder / "repro.py", f"import keras\n\nprint({each.title!r})\n".encode())
    trials = progress[-1] if progress else 60
    events.append({"event": "end", "interrupted": False, "trials": trials})
    lines = [json.dumps({"at": _at(number), **event}) for number, event in enumerate(events)]
    write_bytes(path / "events.ndjson", ("\n".join(lines) + "\n").encode())
    ran = run or Run(
        started=START.isoformat(),
        subjects={"keras": VERSIONS},
        trials=trials,
        verdicts={"fixed: faithful": trials, "upstream: diverged": len(findings)},
        worst={"upstream: computes": len(findings)},
    )
    write(path / "run.json", msgspec.structs.replace(ran, findings=tuple(each.id for each in findings)))
    return path


def _at(number: int) -> str:
    """When the event of that number was."""
    return (START + timedelta(seconds=7 * number)).isoformat(timespec="milliseconds")


@cache
def drawn() -> tuple[Graph, ...]:
    """Small graphs of many kinds, for which no Keras has to be asked."""
    return tuple(from_json(text, name) for name, text in EXAMPLES.items() if not name.startswith("tf-"))


def nightly() -> Run:
    """A run with all that a campaign can record."""
    return Run(
        started=START.isoformat(),
        subjects={"keras": VERSIONS, "tf_keras": {"tf_keras": "2.21.0", "tensorflow": "2.21.0", "python": "3.11.7"}},
        seed=7,
        trials=12_000,
        verdicts={"fixed: faithful": 12_000, "upstream: diverged": 700, "upstream: faithful": 11_300},
        worst={"upstream: computes": 20, "upstream: property": 80, "upstream: name": 600},
        ended=(START + timedelta(hours=1)).isoformat(),
        budget=Budget(minutes=60),
        jobs=2,
        cloners=("upstream", "fixed"),
        drawn=9_000,
        refused=0,
        lost={"keras/jax": "keras/jax: jax is not installed"},
        known=(
            KnownMet("lambda-refused", "A Lambda of a lambda is refused", "keras", "keras", 120,
                     "lambda_layer.py:193", "https://github.com/keras-team/keras/issues/1", "3.15.0"),
            KnownMet("list-of-one", "A list of one tensor", "tf_keras", "tf_keras", 3, "functional.py:1"),
        ),
        clonediff="0.1.0",
    )  # fmt: skip


def graph_of(number: int) -> Graph:
    graphs = drawn()
    return graphs[number % len(graphs)]


Making = Callable[[int], Finding]


def many(count: int) -> list[Finding]:
    """Findings of every severity, with graphs as a search draws them."""
    return [finding(number, graph_of(number)) for number in range(count)]
