"""The known graphs: plain ones, examples of known issues, graphs that are kept."""

from __future__ import annotations

from clonediff.harness.judge.plain_graphs import PLAIN
from clonediff.reports.known import KNOWN_ISSUES, KnownIssues
from clonediff.strategies.graph import Graph, from_json, read_graph
from clonediff.strategies.kinds import Generation

CORPUS = KNOWN_ISSUES.with_name("corpus")
"""Graphs that once showed something, a file each."""


def known_graphs(known: KnownIssues, generation: Generation) -> dict[str, Graph]:
    """The graphs to try first, by what they are, the plain ones before all others."""
    graphs = dict(PLAIN)
    for issue in known.issues:
        if issue.generation == generation and issue.example is not None:
            graphs[f"the known issue {issue.id}"] = from_json(issue.example, f"the example of {issue.id}")
    for file in sorted(CORPUS.glob("*.json")):
        graph = read_graph(file)
        if graph.generation in (None, generation):
            graphs[f"{file.stem} of the corpus"] = graph
    return graphs
