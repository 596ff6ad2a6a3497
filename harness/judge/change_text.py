"""What a change of Keras does, for a person and for a comment: what is worse, what it mends, what it leaves. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from clonediff.harness.judge.effects import FixEffect
from clonediff.harness.judge.record import JudgedCause
from clonediff.harness.judge.two_trees import NamedIssue, TreesJudged
from clonediff.reports.issue import escaped
from clonediff.reports.markup import one_line, visible
from clonediff.reports.records import Severity
from clonediff.reports.verdict import some

MOST = 5
"""So many causes, and so many names, are shown; the rest is counted."""
FEW = 2
"""So many that only lose a property or a name are shown in a comment."""
_OTHERWISE = {FixEffect.OTHERWISE: "breaks otherwise", FixEffect.LOSES_NOW: "loses only a property or a name"}
_SCRIPT = 4000
"""The characters of a script in a comment."""


def sentence(judged: TreesJudged) -> str:
    """The answer in a line."""
    severe, less = _brought(judged)
    worse, lost = len(judged.worse) + len(severe), len(judged.lost) + len(less)
    parts = [f"{some(worse, 'thing')} worse" if worse else "nothing is worse"]
    if lost:
        parts.append("1 property or name lost" if lost == 1 else f"{lost:,} properties or names lost")
    parts.append(f"mends {some(len(judged.mended), 'known issue')}" if judged.mended else "mends no known issue")
    stopped = f"; not all was tried: {judged.stopped}" if judged.stopped else ""
    return f"{', '.join(parts)}, leaves {len(judged.left)} as they are ({some(judged.tried, 'graph')} tried){stopped}"


def _brought(judged: TreesJudged) -> tuple[list[NamedIssue], list[NamedIssue]]:
    """The known issues that are new: what crashes, computes or trains differently, and what only loses something."""
    severe = [each for each in judged.brought if each.severity <= Severity.TRAINS]
    return severe, [each for each in judged.brought if each.severity > Severity.TRAINS]


def change_lines(judged: TreesJudged) -> list[str]:
    """The lines for a terminal."""
    lines = [f"{judged.head} against {judged.base}: {sentence(judged)}"]
    for number, each in enumerate(judged.worse[:MOST]):
        lines.append(f"  worse: {_cause(each, judged.known.get(each.id))}")
        if not number:
            lines.append(f"    smallest: {each.smallest}")
    severe, less = _brought(judged)
    lines += _more(judged.worse, "worse")
    lines += [f"  worse: the known issue {each.id} is new: {each.title}" for each in severe]
    lines += [f"  loses: {_cause(each, judged.known.get(each.id))}" for each in judged.lost[:MOST]]
    lines += _more(judged.lost, "lost")
    lines += [f"  loses: the known issue {each.id} is new: {each.title}" for each in less]
    lines += [f"  mends: {each.id}: {each.title}" for each in judged.mended]
    for effect, said in _OTHERWISE.items():
        its = [each for each in judged.otherwise if each.effect is effect]
        if its:
            lines.append(f"  {said} where there was no clone: {some(len(its), 'cause')}")
            lines += [f"    {_cause(each)}" for each in its[:MOST]]
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
    parts += [_plain(each.strip()) for each in _more(judged.worse, "worse")]
    severe, less = _brought(judged)
    parts += [f"- worse: {_plain(_named(each))} is new" for each in severe[:MOST]]
    lost = [_cause(each, judged.known.get(each.id)) for each in judged.lost]
    lost += [f"{_named(each)} is new" for each in less]
    parts += [f"- loses: {_plain(each)}" for each in lost[:FEW]]
    if len(lost) > FEW:
        parts.append(f"- loses {len(lost) - FEW} more")
    parts += [f"- mends {_plain(_named(each))}" for each in judged.mended[:MOST]]
    if len(judged.mended) > MOST:
        parts.append(f"- mends {len(judged.mended) - MOST} more")
    for each in (*judged.worse[:MOST], *judged.lost[:FEW]):
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


def _more(causes: Sequence[JudgedCause], word: str) -> Iterator[str]:
    if len(causes) > MOST:
        yield f"  and {len(causes) - MOST} more that are {word}"


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
