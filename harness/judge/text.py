"""A verdict for a terminal, and for a comment on a pull request. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clonediff.harness.judge.judging import Judged, JudgedCause
from clonediff.reports.issue import escaped
from clonediff.reports.markup import one_line, visible
from clonediff.reports.verdict import some

_MOST = 5  # causes, and names; the rest is counted


def sentence(judged: Judged) -> str:
    """The verdict in a line."""
    if judged.refused:
        return f"{judged.word}: {judged.refused}"
    counts = (
        f"mends {some(len(judged.mends), 'known issue')}, leaves {len(judged.leaves)}; {judged.models} models tried"
    )
    stopped = f"; not all was tried: {judged.stopped}" if judged.stopped else ""
    worse = f"; {some(len(judged.worse), 'thing')} worse" if judged.worse else "; nothing is worse"
    return f"{judged.word}: {counts}{worse}{stopped}"


def terminal_lines(judged: Judged) -> Iterator[str]:
    """The lines for a terminal."""
    yield f"{one_line(judged.name)}: {one_line(sentence(judged))}"
    if judged.taken:
        yield f"  taken: {one_line(judged.taken)}"
    yield from _causes("worse", judged.worse)
    yield from _causes("leaves", judged.left)
    if judged.mends:
        yield f"  mends: {_names(judged.mends)}"


def _causes(effect: str, causes: Sequence[JudgedCause]) -> Iterator[str]:
    for cause in causes[:_MOST]:
        yield f"  {effect}: {_cause(cause)}"
        if effect == "worse":
            yield f"    first on {one_line(cause.first_on)}: {one_line(cause.actual)}"
    if len(causes) > _MOST:
        yield f"  {effect}: {len(causes) - _MOST} more"


def _cause(cause: JudgedCause) -> str:
    known = f" (known: {cause.known})" if cause.known else ""
    return f"{cause.severity}: {one_line(cause.title)} [{cause.id}]{known}"


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    return f"{', '.join(names[:_MOST])}{more}"


def comment(judged: Judged) -> str:
    """The verdict as Markdown: what is worse with its script, and the rest folded."""
    lines = [f"**clonediff**: {escaped(sentence(judged))}", ""]
    lines += [f"- worse: {escaped(_cause(cause))}" for cause in judged.worse[:_MOST]]
    for cause in judged.worse[:1]:
        script = [f"    {line}" for line in visible(cause.script[:4000]).splitlines()]
        lines += ["", "<details><summary>The script of the first</summary>", "", *script, "", "</details>"]
    for word, names in (("Mends", judged.mends), ("Leaves", judged.leaves)):
        if names:
            lines += ["", f"<details><summary>{word} {len(names)}</summary>", "", ", ".join(names), "", "</details>"]
    return "\n".join((*lines, "", f"{escaped(judged.name)} against {escaped(judged.against)}", ""))
