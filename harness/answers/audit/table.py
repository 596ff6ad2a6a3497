"""What came of an audit, in Markdown: what is lost with its scripts, and how the other arguments stand."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from clonediff.harness.answers.audit.record import ArgumentAudited, Audited, ClassAudited, full_name
from clonediff.reports.markup import one_line

_MARKUP = re.compile(r"([\\|*_<>\[\]`])")
_LONGEST = 160
Pair = tuple[ClassAudited, ArgumentAudited]


def totals(audited: Audited) -> str:
    """The audit in a line."""
    versions = " ".join(f"{name} {version}" for name, version in list(audited.versions.items())[:1])
    lost = len(list(audited.lost()))
    counts = f"{lost} lost, {audited.count('kept')} kept, {audited.count('cannot tell')} not told"
    classes = f"{len(audited.classes):,} class{'' if len(audited.classes) == 1 else 'es'}"
    return f"{audited.target}, {versions}: {classes}; arguments: {counts}"


def what(argument: ArgumentAudited) -> str:
    """How an argument is lost, with what was there and what is."""
    worst = argument.worst
    if worst.how == "holds":
        return f"{argument.how}: {worst.path} is {worst.found}, not {worst.made}"
    if worst.how == "computes":
        return argument.how
    return f"{argument.how}: {worst.found}"


def given(argument: ArgumentAudited) -> str:
    """What a lost argument was given."""
    return f"{argument.name}={argument.tried}" if argument.name else "whatever it is given"


def grouped(pairs: Sequence[Pair]) -> Iterator[list[Pair]]:
    """The lost arguments, those together that classes of one sort lose alike."""
    groups: dict[tuple[str, ...], list[Pair]] = {}
    for kind, argument in pairs:
        groups.setdefault((argument.worst.how, kind.sort, argument.name, argument.tried), []).append((kind, argument))
    yield from groups.values()


def names(group: Sequence[Pair], most: int = 4) -> str:
    """The classes of a group."""
    titles = [each.title for each, _ in group]
    if len(titles) == 1:
        return titles[0]
    module = re.split(r"[.:]\w+$", titles[0])[0]
    short = [each.removeprefix(module).lstrip(".:") for each in titles]
    return f"{', '.join(short[:most])}{f' and {len(short) - most} more' if len(short) > most else ''} of {module}"


def markdown(audited: Audited) -> str:
    """The whole audit."""
    lines = [f"# {totals(audited)}", ""]
    pairs = audited.lost()
    if pairs:
        lines += ["## Lost", "", "| class | argument | how |", "|---|---|---|"]
        lines += [
            _row(kind.title, f"{each.name}={each.tried}" if each.name else "", what(each)) for kind, each in pairs
        ]
        for group in grouped(pairs):
            kind, argument = group[0]
            lines += ["", f"### {full_name(kind, argument)}", ""]
            lines += [*([f"Likewise: {names(group[1:], len(group))}.", ""] if group[1:] else []), "```python"]
            lines += [argument.script.rstrip("\n"), "```"]
    told = [(kind, each) for kind in audited.classes for each in kind.arguments if each.answer == "cannot tell"]
    if told:
        lines += ["", "## Cannot tell", "", "| class | argument | why |", "|---|---|---|"]
        lines += [_row(kind.title, each.name, each.reason) for kind, each in told]
    left_out = [kind for kind in audited.classes if kind.reason]
    if left_out:
        lines += ["", "## Not audited", "", "| class | why |", "|---|---|"]
        lines += [_row(kind.title, kind.reason) for kind in left_out]
    return "\n".join((*lines, ""))


def _row(*cells: str) -> str:
    escaped = (_MARKUP.sub(r"\\\1", one_line(cell, _LONGEST)) for cell in cells)
    return f"| {' | '.join(escaped)} |"
