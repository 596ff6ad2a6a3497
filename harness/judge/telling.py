"""What is said of a candidate: a line for a graph, a sentence for a verdict, the table. All from what was seen.

Must not import Keras.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.judge.verdicts import Break, Charge, Judged, Place, Tried
from reports.records import COSTS, Cause, Cost, Difference

_LONGEST = 110
MOST_TOLD = 4
"""What is left broken, in a sentence."""


def graph_line(source: str) -> str:
    """A model in a line: what its script does between what it imports and defines and the model."""
    lines = [
        line
        for line in source.strip().split("\n")
        if not re.match(r"import |from |class |def |@|\s|keras\.utils\.get_custom_objects|$", line)
    ]
    short = re.sub(r"\bkeras\.layers\.|\blayers\.|\bkeras\.", "", "; ".join(lines))
    return re.sub(r"; model = Model\([^;]*\)$", "", short)


def said_of(cause: Cause) -> str:
    """A cause in a clause: the exception, or the first difference."""
    root = cause.root
    if root.raised is not None and root.path == "process":
        return {"timed out": "it does not come to an end", "out of memory": "it takes memory without end"}.get(
            root.raised.type, f"it ends its process ({root.raised.type})"
        )
    if root.raised is not None:
        when = {"made": "", "weights": " when the clone is given the weights"}.get(root.check, f" in {root.path}")
        return f"{root.raised.type}: {_short(root.raised.message)}{when}".replace(": :", ":").rstrip(": ")
    cost = f" ({COSTS[cause.rank]})" if cause.rank < root.rank else ""
    return f"{_where(root)}: {_short(root.expected)} in the original, {_short(root.found)} in the clone{cost}"


def raised_at(cause: Cause, place: Place | None) -> str:
    """Where an exception was raised, in words; "" where there is none."""
    root = cause.root
    if place is not None:
        return f" in `{place.function}`, line {place.line} of the file"
    if root.raised is None or not root.raised.frame or root.path == "process":
        return ""
    file, _, function = root.raised.frame.rpartition(":")
    return f" in `{function}`" + ("" if file == "<candidate>" else f" of {file}")


def _varied(breaks: Sequence[Break]) -> list[Break]:
    """The first break of each cost to a user, then the others: a crash is not worse news than a mask that is lost."""
    first: dict[Cost, Break] = {}
    for each in breaks:
        first.setdefault(min((difference.rank for difference in each.differences), default=Cost.CRASHES), each)
    return [*first.values(), *(each for each in breaks if each not in first.values())]


def sentence(judged: Judged) -> str:
    """What is wrong with a candidate, in a sentence or two."""
    if not judged.loads:
        return f"It does not load: {judged.refused}."
    breaks = [each for each in judged.breaks if each.charge is Charge.BREAKS]
    leaves = [each for each in judged.breaks if each.charge is Charge.LEAVES]
    reported = "" if judged.fixes else _not_fixed(judged)
    if breaks:
        worst = max(breaks, key=lambda each: each.graphs)
        if judged.worked and judged.broken == judged.worked:
            head = f"It clones none of the {judged.worked} graphs that the release's own code clones"
        else:
            head = f"It breaks {judged.broken} of {judged.worked} graphs that the release's own code clones"
        more = f" ({worst.graphs} of them)" if worst.graphs < judged.broken else ""
        text = f"{head}: {worst.said}{more}."
        if judged.fixes:
            text += " It does fix the reported bug."
    elif judged.form == "reference" and (reported or leaves):
        text = f"It shows the reported bug: {reported}." if reported else "It does not show the reported bug."
        if judged.left:
            text += f" It breaks on {_graphs(judged.left)} of {judged.tried}."
    elif reported:
        text = f"It breaks nothing that worked, and does not fix the reported bug: {reported}."
    elif leaves:
        text = (
            f"It fixes the reported bug and breaks nothing that worked; it leaves broken {_graphs(judged.left)}"
            f" of {judged.tried}: {'; '.join(each.said for each in _varied(leaves)[:MOST_TOLD])}."
        )
    else:
        text = f"Nothing is held against it on {_graphs(judged.tried)}."
    if judged.own_tests and judged.own_tests.failed:
        own = judged.own_tests
        text += f" The release's own tests fail: {', '.join(own.failed[:3])}" + (f" ({own.said})." if own.said else ".")
    if judged.stopped:
        text += f" Not all was tried: {judged.stopped}."
    return text


def table(judged: Sequence[Judged], subject: str, stream: TextIO) -> None:
    """The table and, below it, a sentence on each; in colours and boxes on a terminal, plain where it is piped."""
    console = Console(file=stream, highlight=False, soft_wrap=not stream.isatty())
    if not stream.isatty():
        for each in judged:
            console.print(Text("\n".join(_plain(each))))
        return
    shown = Table(title=f"Proposed fixes, judged on {subject}", title_justify="left", show_lines=True)
    for head in (
        "candidate",
        "verdict",
        "loads",
        "fixes the bug",
        "own tests",
        "breaks what worked",
        "leaves broken",
    ):
        shown.add_column(head, overflow="fold")
    for each in judged:
        shown.add_row(
            Text(each.candidate),
            Text(each.word, style=_STYLES.get(each.word, "red")),
            "yes" if each.loads else "no",
            Text(_fix(each)),
            Text(_own(each)),
            Text(_counted(each, Charge.BREAKS, boxed=True)),
            Text(_counted(each, Charge.LEAVES, boxed=True)),
        )
    console.print(shown)
    for each in judged:
        console.print(Text.assemble((each.candidate, "bold"), "  ", each.sentence))


_STYLES = {"holds": "green", "breaks elsewhere": "yellow", "fixes it, leaves others broken": "yellow"}


def _plain(judged: Judged) -> list[str]:
    lines = [f"{judged.candidate}: {judged.word}"]
    if judged.taken:
        lines.append(f"  taken: {judged.taken}")
    if judged.loads:
        lines.append("  loads: yes" + (f", replaces {', '.join(judged.replaced)}" if judged.replaced else ""))
        lines.append(f"  fixes the reported bug: {_fix(judged)}")
        lines.append(f"  the release's own tests: {_own(judged)}")
        for charge in (Charge.BREAKS, Charge.LEAVES):
            lines.append(f"  {charge.value}: {_counted(judged, charge)}")
            for each in [one for one in judged.breaks if one.charge is charge]:
                proof = {True: "", None: "", False: " (does not count: its script does not fail on its own)"}
                lines.append(f"    {each.said}{proof[each.reproduced]}")
                lines.append(f"      on {_graphs(each.graphs)}, smallest: {each.smallest}")
    else:
        lines.append("  loads: no")
    lines.append(f"  {judged.sentence}")
    return [*lines, ""]


def _fix(judged: Judged) -> str:
    if judged.reported is None:
        return "not tried"
    told = "yes" if judged.reported.holds else f"no: {judged.reported.said}"
    if judged.multi_gpu is not None:
        how = "simulated on the CPU" if judged.simulated else "on two GPUs"
        told += f"; through multi_gpu_model ({how}) {_yes(judged.multi_gpu)}"
    return told


def _yes(tried: Tried) -> str:
    return "yes" if tried.holds else f"no: {tried.said}"


def _own(judged: Judged) -> str:
    own = judged.own_tests
    if own is None:
        return "not run"
    if own.failed:
        return f"{own.note}, {len(own.failed)} fail"
    return f"{own.note}, all pass" if own.passed else own.note


def _counted(judged: Judged, charge: Charge, *, boxed: bool = False) -> str:
    if not judged.loads:
        return "not tried"
    its = [each for each in judged.breaks if each.charge is charge]
    count, of = (judged.broken, judged.worked) if charge is Charge.BREAKS else (judged.left, judged.tried)
    if not its:
        return f"on none of {of} graphs"
    return f"on {count} of {of} graphs" + (f"; smallest: {_smallest(its).smallest}" if boxed else "")


def _smallest(its: Sequence[Break]) -> Break:
    return min(its, key=lambda each: len(each.smallest))


def _not_fixed(judged: Judged) -> str:
    tried = [each for each in (judged.reported, judged.multi_gpu) if each is not None and not each.holds]
    return tried[0].said if tried else "it was not tried"


def _where(root: Difference) -> str:
    aspect = root.aspect.replace("_", " ")
    return (
        f"{aspect} of {root.first.name or 'the model'} ({root.first.kind})" if root.first else f"{root.check}, {aspect}"
    )


def _graphs(count: int) -> str:
    return "1 graph" if count == 1 else f"{count} graphs"


def _short(text: str) -> str:
    line = re.sub(r" [0-9a-f]{16,}\b", "", " ".join(text.split()))
    return line if len(line) <= _LONGEST else line[: _LONGEST - 3] + "..."
