"""What a subject was given to try: what of it cannot be built and why, and how often each layer class was drawn.

Owns how many refusals are acceptable. A graph that cannot be built is no finding: it says nothing about cloning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from clonediff.reports.markup import one_line
from clonediff.reports.records import Draws, Run
from clonediff.reports.run_folder import refused_file
from clonediff.strategies.kinds.operations import is_operation

FINE = 0.03
"""The share of a subject's graphs that may be refused."""

_WHERE = re.compile(r"Exception encountered when calling .*|Graph execution error:|Detected at node .*|\s*")
"""Lines that say where something was raised, and not what."""
_NAMES = re.compile(r"(?<!\w)'[^']*'(?!\w)|\"[^\"]*\"|`[^`]*`|<[^<>]*>|\{\{.*?\}\}|\b\w*[a-zA-Z]_\d+\b")
_NUMBERS = re.compile(r"(?<![\w.])-?\d+(\.\d+)?(e[-+]?\d+)?(?!\w)")
_SHAPES = re.compile(r"[(\[]((None|N)(, ?)?)*[)\]]")


def reason(type_: str, message: str) -> str:
    """Why a graph was refused, without the names and numbers of the graph, so that many graphs share a reason."""
    lines = re.sub(r"\x1b\[[\d;]*m", "", message).splitlines()
    said = next((line for line in lines if not _WHERE.fullmatch(line)), "")
    return one_line(f"{type_}: {_SHAPES.sub('(…)', _NUMBERS.sub('N', _NAMES.sub('…', said)))}", 160)


def too_many(refused: int, graphs: int) -> bool:
    """Whether so many graphs were refused that it is a fault of the generator."""
    return graphs >= 10 and refused >= 3 and refused > FINE * graphs


def to_mend(run: Run) -> Iterator[str]:
    """A line for each subject that refused too many graphs."""
    for name, each in run.draws.items():
        if too_many(each.refused, each.graphs):
            share = f"{each.refused:,} of {each.graphs:,} graphs ({each.refused / each.graphs:.1%})"
            yield f"{name} cannot build {share}, more than {FINE:.0%}: a fault of the generator"


def refusals(name: str, draws: Draws, most: int | None = None) -> Iterator[str]:
    """What a subject cannot build, a line for each reason with its example, then the kinds that are mostly refused."""
    for why, graphs in list(draws.reasons.items())[:most]:
        yield f"{graphs:7,} refused: {why} [{refused_file(name, why)}]"
    if draws.kinds:
        named = ", ".join(f"{kind} ({refused:,} of {graphs:,})" for kind, (refused, graphs) in draws.kinds.items())
        yield f"refused more than half of the time: {named}"


def never_accepted(draws: Draws) -> Iterator[str]:
    """The kinds of which Keras accepted no call: a line for each layer of the user's, and one for all others."""
    its = [kind for kind in draws.not_accepted if not _is_other(kind)]
    for kind, why in draws.not_accepted.items():
        if kind not in its:
            yield f"Keras accepted no call of {kind}: {one_line(why)}"
    if its:
        yield f"Keras accepted no call of {len(its):,} of its own kinds: {', '.join(its)}"


def _is_other(kind: str) -> bool:
    return ":" in kind or ("." in kind and not is_operation(kind))


def frequencies(draws: Draws) -> str:
    """How often layer classes were drawn, and which never were."""
    least, middle, most = draws.often
    return (
        f"{draws.classes} layer classes drawn: each of the rarest tenth is in at most {least:,} of {draws.graphs:,} "
        f"graphs, the median one in {middle:,}, each of the most frequent tenth in at least {most:,}; "
        f"{len(draws.never)} never drawn{': ' if draws.never else ''}{', '.join(draws.never)}"
    )
