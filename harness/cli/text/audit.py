"""An audit for a person: a line a class as it comes, then what is lost, the worst first."""

from __future__ import annotations

from clonediff.harness.answers.audit.record import Audited, ClassAudited
from clonediff.harness.answers.audit.table import given, grouped, names, totals, what
from clonediff.harness.cli.terminal import table
from clonediff.reports.markup import one_line

_LONGEST = 110


def class_text(audited: ClassAudited) -> str:
    """One class in a line."""
    if audited.reason:
        return f"{audited.title}: {one_line(audited.reason, _LONGEST)}"
    lost = ", ".join(each.name or "whatever it is given" for each in audited.lost)
    kept = sum(each.answer == "kept" for each in audited.arguments)
    told = f"{kept} of {len(audited.arguments)} arguments kept"
    return f"{audited.title}: {told}{f'; lost: {lost}' if lost else ''}"


def audited_text(audited: Audited, *, scripts: bool) -> list[str]:
    """What is lost, and the totals; `scripts` were run."""
    pairs = audited.lost()
    lines = []
    if pairs:
        rows = [("lost", "of", "how")]
        for group in grouped(pairs):
            _, argument = group[0]
            proven = all(each.proven for _, each in group)
            unproven = "" if proven or not scripts else " (not every script fails alone)"
            rows.append(
                (
                    one_line(given(argument), 60),
                    one_line(names(group), 80),
                    one_line(what(argument), _LONGEST) + unproven,
                )
            )
        lines += [*table(rows), ""]
    lines.append(totals(audited))
    return lines
