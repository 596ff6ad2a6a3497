"""The graphs that a subject could not build, and why.

Owns how many such graphs are acceptable. A graph that cannot be built is no finding: it says nothing about cloning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from clonediff.reports.markup import one_line
from clonediff.reports.records import Draws, Run
from clonediff.reports.run_folder import refused_file

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
    for name, draws in run.draws.items():
        if too_many(draws.refused, draws.graphs):
            share = f"{draws.refused:,} of {draws.graphs:,} graphs ({draws.refused / draws.graphs:.1%})"
            yield f"{name} cannot build {share}, more than {FINE:.0%}: a fault of the generator"


def refusals(name: str, draws: Draws, most: int | None = None) -> Iterator[str]:
    """A line for each reason why a subject refused graphs, with the file of an example."""
    for why, graphs in list(draws.reasons.items())[:most]:
        yield f"{graphs:7,} refused: {why} [{refused_file(name, why)}]"


def never_accepted(draws: Draws) -> Iterator[str]:
    """A line for each layer of the user's of which Keras accepted no call."""
    for kind, exception in draws.not_accepted.items():
        yield f"Keras accepted no call of {kind}: {one_line(exception)}"
