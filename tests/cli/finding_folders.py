"""Findings as a search leaves them, made by real trials of the examples of known issues, with nothing known."""

from __future__ import annotations

from pathlib import Path

import msgspec

from clonediff.harness.scripts.of_finding import finding_of
from clonediff.harness.scripts.reproducer import reproducer, with_versions
from clonediff.harness.subjects import SubjectProcess
from clonediff.harness.trials.cases import case_of
from clonediff.harness.trials.graph_trials import GraphTrials
from clonediff.reports.known import KnownIssues, load
from clonediff.reports.reading import slug
from clonediff.reports.records import Finding, Run, write, write_bytes
from clonediff.strategies.graph import Call, Graph, Input, Layer, Ref, from_json
from tests.example_graphs import EXAMPLES

KNOWN = load()
DENSE = Graph(
    (Input((4,), name="x"),),
    (Layer("Dense", (("units", 3),), name="one"), Layer("Dense", (("units", 2),), name="two")),
    (Call(0, (Ref(0),)), Call(1, (Ref(1),))),
    Ref(0),
    Ref(2),
    generation="keras",
)


def found(process: SubjectProcess, issue: str, cloner: str = "upstream") -> Finding:
    """What a trial of the example of a known issue shows: the cause that the issue explains."""
    graph = from_json(EXAMPLES[issue], issue)
    trials = GraphTrials(process, KNOWN, cloners=(cloner,))
    [one] = [
        each for each in trials.try_graph(graph, costly=True).hits if each.known is not None and each.known.id == issue
    ]
    return msgspec.structs.replace(finding_of(one, process.subject, process.versions), known=None)


def news(process: SubjectProcess, graph: Graph, cloner: str) -> Finding:
    """The worst that a trial of a graph shows."""
    one = GraphTrials(process, KnownIssues(), cloners=(cloner,)).try_graph(graph, costly=True).hits[0]
    return finding_of(one, process.subject, process.versions)


def kept(path: Path, *findings: Finding) -> Path:
    """A run's folder with these findings."""
    for each in findings:
        folder = folder_of(path, each)
        write(folder / "finding.json", each)
        assert each.root is not None
        case = case_of(from_json(bytes(each.graph), "a finding"), each.generation)
        script = reproducer(case.source, each.generation, each.root, each.cloner, case)
        write_bytes(folder / "repro.py", with_versions(script, each.versions).text.encode())
    write(path / "run.json", Run(started="2026-11-21T02:00:00+00:00", findings=tuple(each.id for each in findings)))
    return path


def folder_of(path: Path, finding: Finding) -> Path:
    return path / "findings" / slug(finding.subject, finding.cloner or "original", finding.id)
