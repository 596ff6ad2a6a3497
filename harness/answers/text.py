"""The lines of an answer for a person: of a model that was checked, and of a target that was replayed.

Names come out of files that anybody may have written.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from clonediff.harness.answers.check import Checked, minded
from clonediff.harness.answers.replay import ReplayRow
from clonediff.harness.scripts.runner import ReplayAnswer
from clonediff.reports.documents import template
from clonediff.reports.markup import one_line
from clonediff.reports.records import cloner_said

_WIDTH = max(map(len, ReplayAnswer))


def checked_text(checked: Checked, ignored: Collection[str] = ()) -> str:
    """What is said of a model."""
    keras = next(iter(checked.versions))
    who = {"upstream": f"{keras}.models.clone_model", "fixed": "clonediff.clone_model"}
    left = dict.fromkeys(cause.known for cause in minded(checked.causes) if not cause.ignored_by(ignored))
    return template("check.txt.j2", one_line).render(
        checked=checked,
        broken=[name for name, causes in checked.clones.items() if minded(causes)],
        ignored=ignored,
        who={name: who.get(name) or cloner_said(name) for name in checked.clones},
        versions=[f"{name} {version}" for name, version in checked.versions.items()],
        asked=[f"{name} ({how})" for name, how in checked.asked.items()],
        accepting=[] if None in left else [f"--ignore {issue}" for issue in left],
    )


def replayed_text(row: ReplayRow) -> Iterator[str]:
    """An answer, with what is behind it in lines of its own."""
    indent, what = " " * (_WIDTH + 2), f"{row.title} [{row.id}]" if row.id else row.title or row.where
    what += f", cloned by {row.cloner}" if row.cloner and row.title else ""
    yield "  ".join(filter(None, (row.answer.value.ljust(_WIDTH), one_line(row.subject), one_line(what))))
    if row.answer is ReplayAnswer.UNKNOWN and row.title and row.id != row.where:
        yield indent + one_line(f"of {row.where}")
    if row.because:
        yield indent + one_line(row.because)
    if row.answer is ReplayAnswer.BREAKS:
        word = "also shows" if row.id else "shows"
        for cause in row.causes:
            if row.id not in (cause.id, cause.known):
                known = f" (known: {cause.known})" if cause.known else ""
                yield indent + one_line(f"{word}: {cause.title} [{cause.id}]{known}")
