"""What is said of candidates: a sentence each, a screen of text, and all of it for the run's folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TextIO

from rich.console import Console
from rich.text import Text

from clonediff.harness.judge.effects import COUNTED, FixEffect
from clonediff.harness.judge.record import Judged, JudgedCause, ReportedBug
from clonediff.harness.judge.wording import graphs, likeness
from clonediff.reports.markup import visible

ROWS = {FixEffect.SILENCES: 3, FixEffect.BREAKS: 3, FixEffect.OTHERWISE: 2, FixEffect.LEAVES: 4}
"""The rows of each effect in a terminal; the rest stands in the folder."""

ROWS_ALONE = 10
"""The rows of a candidate with causes of one effect only."""

WIDTH = 120
"""The columns of a line where there is no terminal."""

_STYLES = {"holds": "green", "breaks elsewhere": "yellow", "fixes it, leaves others broken": "yellow"}
_UNSHOWN = " (does not count: its script does not fail on its own)"
_KINDS = 3


def sentence(judged: Judged) -> str:
    """The reason for a verdict: the worst first."""
    if not judged.loads:
        return f"It does not load: {judged.refused}."
    reported = "" if judged.fixes else _not_fixed(judged)
    text = f"{judged.silent[0].upper()}{judged.silent[1:]}. " if judged.silent else ""
    if judged.broken:
        text += _breaks(judged) + (" It does fix the reported bug." if judged.fixes else "")
    elif judged.form == "reference":
        text += f"It shows the reported bug: {reported}." if reported else "It does not show the reported bug."
        wrong = judged.left + judged.otherwise
        if not wrong and not reported and not judged.silent:
            text = f"Nothing speaks against it on {graphs(judged.tried)}."
        elif wrong:
            text += f" It breaks on {graphs(wrong)} of {judged.tried}."
    elif reported:
        text += f"It breaks nothing that worked, and does not fix the reported bug: {reported}."
    elif judged.worse:
        text += "It breaks nothing that worked."
    elif judged.left or judged.otherwise:
        text += f"It fixes the reported bug and breaks nothing that worked; it leaves broken {_left(judged)}."
    else:
        text += f"Nothing speaks against it on {graphs(judged.tried)}."
    own = judged.own_tests
    if own and own.failed:
        named = ", ".join(own.failed[:3]) + (f" and {len(own.failed) - 3} more" if len(own.failed) > 3 else "")
        text += f" The release's own tests fail: {named}" + (f" ({own.said})." if own.said else ".")
    if judged.stopped:
        text += f" Not all was tried: {judged.stopped}."
    return text


def folded(causes: Sequence[JudgedCause]) -> list[list[JudgedCause]]:
    """Causes of one effect, those that are alike together; the order stays."""
    rows: dict[tuple[str, ...], list[JudgedCause]] = {}
    for each in causes:
        rows.setdefault(likeness(each.differences), []).append(each)
    return list(rows.values())


def screen(judged: Sequence[Judged], subject: str, stream: TextIO) -> None:
    """What a person reads first: each candidate within a screen, then a line on what it was compared with."""
    console = Console(file=stream, highlight=False, soft_wrap=not stream.isatty())
    width = console.width if stream.isatty() else WIDTH
    for each in judged:
        if each.form == "reference":
            continue
        head, reason, *lines = _lines(each, ROWS)
        console.print(Text.assemble((head, f"bold {_STYLES.get(each.word, 'red')}")))
        console.print(Text(reason))
        for line in lines:
            console.print(Text(_cut(line, width)))
        console.print()
    references = [each for each in judged if each.form == "reference"]
    if references:
        console.print(Text(_cut(f"Compared with, on {subject}:", width)))
    for each in references:
        wrong = each.worse + each.broken + each.otherwise + each.left
        console.print(Text(_cut(f"  {each.candidate}: {each.word}; wrong on {wrong} of {graphs(each.tried)}", width)))


def everything(judged: Sequence[Judged], subject: str) -> str:
    """All that is said of all candidates, for a file: nothing is cut, nothing is left out."""
    parts = [f"Proposed fixes, judged on {subject}"]
    own = [each for each in judged if each.form != "reference"]
    for each in (*own, *(each for each in judged if each.form == "reference")):
        parts.append("\n".join(_lines(each)))
    return "\n\n".join(parts) + "\n"


def _lines(judged: Judged, rows: dict[FixEffect, int] | None = None) -> list[str]:
    lines = [visible(f"{judged.candidate}: {judged.word}"), f"  {visible(judged.sentence)}"]
    if judged.taken:
        replaced = f"; replaces {', '.join(judged.replaced)}" if judged.replaced else ""
        lines.append(f"  taken: {judged.taken}{replaced}")
    if not judged.loads:
        return [*lines, "  loads: no"]
    lines.append(f"  fixes the reported bug: {visible(_fix(judged))}")
    lines.append(f"  the release's own tests: {_own(judged)}")
    alone = len({each.effect for each in judged.breaks}) == 1
    for effect in COUNTED:
        its = folded(judged.of(effect))
        if not its and effect is not FixEffect.BREAKS:
            continue
        most = len(its) if rows is None else ROWS_ALONE if alone else rows[effect]
        lines.append(f"  {effect.value}: {_on(judged, effect)}{_more(its, most)}")
        for number, row in enumerate(its[:most]):
            if rows is None:
                for each in row:
                    lines += _row([each], with_graph=True)
            else:
                lines += _row(row, with_graph=number == 0 and effect in (FixEffect.SILENCES, FixEffect.BREAKS))
    if judged.mended:
        lines.append(f"  mends: {graphs(judged.mended)} on which the release is wrong")
    return lines


def _row(row: Sequence[JudgedCause], *, with_graph: bool) -> Iterator[str]:
    first = row[0]
    before = f"; before: {first.before}" if first.before else ""
    alike = f" and {len(row) - 1} alike{_named(row[1:])}" if len(row) > 1 else ""
    on = "+".join(str(each.graphs) for each in row[:_KINDS]) + ("+..." if len(row) > _KINDS else "")
    unshown = _UNSHOWN if first.reproduced is False else ""
    noun = "graph" if on == "1" else "graphs"
    # The number of those alike comes before what may be cut off.
    yield visible(f"    {on} {noun}{alike}: {first.said}{before}{unshown}")
    if with_graph:
        yield visible(f"      {first.script or 'smallest'}: {first.smallest}")


def _named(row: Sequence[JudgedCause]) -> str:
    kinds = dict.fromkeys(
        each.differences[0].first.kind for each in row if each.differences and each.differences[0].first
    )
    named = list(kinds)[:_KINDS]
    return f" ({', '.join(named)}{', ...' if len(kinds) > _KINDS else ''})" if named else ""


def _more(its: Sequence[Sequence[JudgedCause]], most: int) -> str:
    count = sum(map(len, its))
    if count < 2:
        return ""
    hidden = sum(map(len, its[most:]))
    return f", {count} causes" + (f", the worst {count - hidden} of them" if hidden else "")


def _on(judged: Judged, effect: FixEffect) -> str:
    count, of = judged.counted(effect)
    if not judged.of(effect):
        return f"on none of {of} graphs"
    before = f" ({judged.uncovered} of them raised before)" if effect is FixEffect.LEAVES and judged.uncovered else ""
    return f"on {count} of {of} graphs{before}"


def _breaks(judged: Judged) -> str:
    breaks = judged.of(FixEffect.BREAKS)
    worst = max(breaks, key=lambda each: each.graphs)
    whole = judged.broken == judged.worked
    if whole and not worst.does:
        head = f"It clones none of the {judged.worked} graphs that the release's own code clones"
    elif whole:
        head = f"It breaks all of the {judged.worked} graphs that the release's own code clones"
    else:
        head = f"It breaks {judged.broken} of {judged.worked} graphs that the release's own code clones"
    more = f" ({worst.graphs} of them)" if worst.graphs < judged.broken else ""
    return f"{head}: {worst.said}{more}."


def _left(judged: Judged) -> str:
    causes = [*judged.of(FixEffect.OTHERWISE), *judged.of(FixEffect.LEAVES)]
    said = f": {causes[0].said}" if causes else ""
    others = f", and {len(causes) - 1} more causes" if len(causes) > 2 else ", and one more cause" if causes[1:] else ""
    return f"{graphs(judged.left + judged.otherwise)} of {judged.tried}{said}{others}"


def _fix(judged: Judged) -> str:
    if judged.reported is None:
        return "not tried"
    text = _yes(judged.reported)
    if judged.multi_gpu is not None:
        how = "simulated on the CPU" if judged.simulated else "on two GPUs"
        text += f"; through multi_gpu_model ({how}) {_yes(judged.multi_gpu)}"
    return text


def _yes(bug: ReportedBug) -> str:
    return "yes" if bug.holds else f"no: {bug.said}"


def _own(judged: Judged) -> str:
    own = judged.own_tests
    if own is None:
        return "not run"
    if own.failed:
        return f"{own.note}, {len(own.failed)} fail"
    return f"{own.note}, all pass" if own.passed else own.note


def _not_fixed(judged: Judged) -> str:
    tried = [each for each in (judged.reported, judged.multi_gpu) if each is not None and not each.holds]
    return tried[0].said if tried else "it was not tried"


def _cut(line: str, width: int) -> str:
    return line if len(line) <= width else line[: width - 3] + "..."
