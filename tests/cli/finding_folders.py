"""Folders of findings as a campaign writes them, from real trials of known issues."""

from __future__ import annotations

from pathlib import Path

import msgspec

from clonediff.harness.scripts.reproducer import script_of
from clonediff.harness.subjects import SubjectProcess
from clonediff.harness.trials.graph_trials import GraphTrials
from clonediff.reports.known import load
from clonediff.reports.records import Finding
from clonediff.reports.run_folder import RunFolder
from clonediff.strategies.program import Input
from tests.helpers.example_graphs import graph_of_issue, graph_of_source
from tests.helpers.example_runs import example_finding, write

DENSE = graph_of_source(
    """\
import keras
from keras import layers

inputs = keras.Input(shape=(4,), name="x")
one = layers.Dense(3, name="one")(inputs)
model = keras.Model(inputs, layers.Dense(2, name="two")(one))
""",
    Input((4,), name="x"),
)


def finding_of(process: SubjectProcess, issue: str) -> Finding:
    """Return a finding of the cause that a known issue explains."""
    trial = GraphTrials(process, load(), cloners=("upstream",)).try_graph(graph_of_issue(issue), costly=True)
    (found,) = [found for found in trial.found_causes if found.known is not None and found.known.id == issue]
    assert found.cause is not None
    return example_finding(
        graph=graph_of_issue(issue),
        id=found.id,
        title=found.title,
        differences=msgspec.to_builtins(found.cause.differences),
        source=script_of(found, "keras", process.versions).text,
        versions=process.versions,
        proof=None,
    )


def write_run(path: Path, *findings: Finding) -> Path:
    """Write the folder of a run with these findings; return its path."""
    folder = RunFolder(path)
    for finding in findings:
        folder.write_finding(finding)
    write(path / "run.json", b'{"started": "2026-11-21T02:00:00+00:00"}')
    return path


def folder_of(run: Path, finding: Finding) -> Path:
    (path,) = (path for path in (run / "findings").iterdir() if path.name.endswith(finding.id))
    return path
