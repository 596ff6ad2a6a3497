"""The graphs that a subject could not build, and why.

Owns how many such graphs are acceptable. A graph that cannot be built is no finding: it says nothing about cloning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from clonediff.reports.markup import one_line
from clonediff.reports.records import Run
from clonediff.reports.run_folder import example_file

FINE = 0.03
"""The share of a subject's graphs that may be refused."""

_WHERE = re.compile(r"Exception encountered when calling .*|Graph execution error:|Detected at node .*|\s*")
"""Lines that say where something was raised, and not what."""
_VARIES = re.compile(r"(?<!\w)'[^']*'(?!\w)|\"[^\"]*\"|`[^`]*`|<[^<>]*>|\([^()]*\)|\b\w*_\d+\b|-?\d[\d.e+-]*")
"""The names, shapes and numbers of one graph."""


def reason(type_: str, message: str) -> str:
    """Why a graph was refused, without its names and numbers, so that many graphs share a reason."""
    line = next((line for line in message.splitlines() if not _WHERE.fullmatch(line)), "")
    return one_line(f"{type_}: {_VARIES.sub('…', line)}", 160)


def too_many(refused: int, graphs: int) -> bool:
    """Whether so many graphs were refused that it is a fault of the generator."""
    return graphs >= 10 and refused >= 3 and refused > FINE * graphs


def to_mend(run: Run) -> Iterator[str]:
    """A line for each subject that refused too many graphs."""
    for name, counts in run.counts.items():
        refused = sum(counts.refused.values())
        if too_many(refused, counts.graphs):
            share = f"{refused:,} of {counts.graphs:,} graphs ({refused / counts.graphs:.1%})"
            yield f"{name} cannot build {share}, more than {FINE:.0%}: a fault of the generator"


def refusals(run: Run) -> Iterator[str]:
    """A line for each reason why a subject refused graphs, with the file of an example."""
    for name, counts in run.counts.items():
        for why, graphs in sorted(counts.refused.items(), key=lambda pair: -pair[1]):
            yield f"{name} refused {graphs:,}: {why} [{example_file('refused', name, why)}]"


def faults(run: Run) -> Iterator[str]:
    """A line for each fault of clonediff that trials met, with the file of a graph."""
    for name, counts in run.counts.items():
        for why, graphs in counts.faults.items():
            example = example_file("faults", name, why)
            yield f"{name}: a fault of clonediff, over {graphs:,} of the trials: {why} [{example}]"
