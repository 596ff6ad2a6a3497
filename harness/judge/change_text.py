"""What a change of Keras does, for a person and for a comment: what is worse, what it mends, what it leaves. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from clonediff.harness.judge.record import JudgedCause
from clonediff.harness.judge.two_trees import NamedIssue, TreesJudged
from clonediff.reports.issue import escaped
from clonediff.reports.markup import one_line, visible
from clonediff.reports.verdict import some

MOST = 5
"""So many causes, and so many names, are shown; the rest is counted."""
_SCRIPT = 4000
"""The characters of a script in a comment."""


def sentence(judged: TreesJudged) -> str:
    """The answer in a line."""
    worse = len(judged.worse) + len(judged.brought)
    said = f"{some(worse, 'thing')} worse" if worse else "nothing is worse"
    mends = f"mends {some(len(judged.mended), 'known issue')}" if judged.mended else "mends no known issue"
    stopped = f"; not all was tried: {judged.stopped}" if judged.stopped else ""
    return f"{said}, {mends}, leaves {len(judged.left)} ({some(judged.tried, 'graph')}){stopped}"


def change_lines(judged: TreesJudged) -> list[str]:
    """The lines for a terminal."""
    lines = [f"{judged.head} against {judged.base}: {sentence(judged)}"]
    for number, each in enumerate(judged.worse[:MOST]):
        lines.append(f"  worse: {_cause(each, judged.known.get(each.id))}")
        if not number:
            lines.append(f"    smallest: {each.smallest}")
    lines += _more(judged.worse)
    lines += [f"  worse: the known issue {each.id} is new: {each.title}" for each in judged.brought]
    lines += [f"  mends: {each.id}: {each.title}" for each in judged.mended]
    if judged.otherwise:
        lines.append(f"  breaks otherwise where there was no clone: {some(len(judged.otherwise), 'cause')}")
        lines += [f"    {_cause(each)}" for each in judged.otherwise[:MOST]]
    if judged.left:
        lines.append(f"  leaves: {_names(judged.left)}")
    if judged.untold:
        lines.append(f"  cannot be told any more: {_names(judged.untold)}")
    if judged.unsteady:
        lines.append(f"  showed once and not again: {judged.unsteady}")
    return [line[: len(line) - len(line.lstrip(" "))] + one_line(line, 2000) for line in lines]


def change_markdown(judged: TreesJudged) -> str:
    """A comment on a pull request: a screen at most, with the details folded."""
    parts = [f"**clonediff**: {_plain(sentence(judged))}", ""]
    parts += [f"- worse: {_plain(_cause(each, judged.known.get(each.id)))}" for each in judged.worse[:MOST]]
    parts += [_plain(each.strip()) for each in _more(judged.worse)]
    parts += [f"- worse: {_plain(_named(each))} is new" for each in judged.brought[:MOST]]
    parts += [f"- mends {_plain(_named(each))}" for each in judged.mended[:MOST]]
    if len(judged.mended) > MOST:
        parts.append(f"- mends {len(judged.mended) - MOST} more")
    for each in judged.worse[:MOST]:
        parts += _folded(f"Script: {each.title}", _code(judged.scripts.get(each.id, each.source)))
    rest = [*judged.left, *judged.untold]
    if rest:
        parts += _folded(f"Left as they are: {some(len(rest), 'known issue')}", _listed(map(_named, rest)))
    tried = (f"{name} {version}" for name, version in judged.versions.items())
    parts += _folded("What was tried", _listed((f"base: {judged.base}", f"head: {judged.head}", *tried)))
    return "\n".join(parts) + "\n"


def _cause(each: JudgedCause, known: str | None = None) -> str:
    before = f"; before: {each.before}" if each.before else ""
    named = f" (known: {known})" if known else ""
    return f"{each.title}{named} on {some(each.graphs, 'graph')}: {each.said}{before}"


def _named(issue: NamedIssue) -> str:
    return f"{issue.id}: {issue.title}"


def _names(issues: Sequence[NamedIssue]) -> str:
    more = f" and {len(issues) - MOST} more" if len(issues) > MOST else ""
    return ", ".join(each.id for each in issues[:MOST]) + more


def _more(causes: Sequence[JudgedCause]) -> Iterator[str]:
    if len(causes) > MOST:
        yield f"  and {len(causes) - MOST} more that are worse"


def _folded(summary: str, lines: Sequence[str]) -> list[str]:
    return ["", f"<details><summary>{_plain(summary)}</summary>", "", *lines, "", "</details>"]


def _listed(texts: Iterable[str]) -> list[str]:
    return [f"- {_plain(each)}" for each in texts]


def _code(script: str) -> list[str]:
    """A script as a block that is indented, in which nothing ends it."""
    return [f"    {visible(line)}" for line in script[:_SCRIPT].splitlines()]


def _plain(text: str) -> str:
    """Text in which nothing is markup, or anything that a terminal would obey."""
    return escaped(one_line(text))
