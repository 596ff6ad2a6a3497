"""A verdict for a terminal, and for a comment on a pull request. Pure."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

from clonediff.harness.judge.judging import ALL, Judged, Worse
from clonediff.reports.markup import escaped, one_line, visible
from clonediff.reports.verdict import some

_WIDTH = 118


def sentence(judged: Judged) -> str:
    """The verdict in a line."""
    if judged.refused:
        return f"{judged.word}: {judged.refused}"
    mended = f"mends {len(judged.mends)} of {some(len(_tried(judged)), 'known issue')}"
    gone = f", {len(judged.gone)} gone with another on the model" if judged.gone else ""
    worse = some(len(judged.worse) + len(judged.breaks), "thing") if judged.worse or judged.breaks else "nothing is"
    tests = judged.tests
    counted = f"; {len(tests.broken)} of {tests.passing} tests of Keras fail" if tests and tests.files else ""
    untested = "; the release has no tests of what is changed" if tests and not tests.files else ""
    stopped = f"; not all was tried: {judged.stopped}" if judged.stopped else ""
    models = f"{some(judged.models, 'model')} tried"
    return f"{judged.word}: {mended}{gone}; {models}; {worse} worse{counted}{untested}{stopped}"


def terminal_lines(judged: Judged, *, series: bool = False) -> Iterator[str]:
    """The lines for a terminal; of one fix of a series, what it mends."""
    if series and judged.name != ALL and not judged.refused:
        words = f"{Path(judged.name).stem}: {len(judged.mends)}"
        yield from _wrapped(words, judged.mends) if judged.mends else [words]
        if judged.fails:
            yield from _wrapped("  does not fix", judged.fails)
        return
    yield f"{one_line(judged.name)}: {one_line(sentence(judged))}"
    if not series:
        if judged.part:
            yield f"  taken: {one_line(judged.part)}"
        yield from _wrapped("  mends", judged.mends)
    yield from _wrapped("  gone, with another on the model", judged.gone)
    yield from _wrapped("  leaves", judged.leaves)
    yield from _wrapped("  worse, its script passed", judged.breaks)
    yield from _wrapped("  worse, a test of Keras passed", judged.broken_tests)
    for cause in judged.worse:
        yield f"  worse: {_cause(cause)}"
        yield f"    first on {one_line(cause.first_on)}: {one_line(cause.actual)}"


def _tried(judged: Judged) -> tuple[str, ...]:
    return (*judged.mends, *judged.gone, *judged.leaves)


def _wrapped(words: str, ids: Sequence[str]) -> Iterator[str]:
    """A line, or several, with ids; nothing where there are none."""
    if ids:
        indent = " " * (len(words) - len(words.lstrip()) + 4)
        yield from textwrap.wrap(
            f"{words}: {one_line(', '.join(ids))}",
            _WIDTH,
            initial_indent=words[: len(words) - len(words.lstrip())],
            subsequent_indent=indent,
            break_on_hyphens=False,
        )


def _cause(cause: Worse) -> str:
    known = f" (known: {cause.known})" if cause.known else ""
    return f"{cause.severity}: {one_line(cause.title)} [{cause.id}]{known}"


def comment(judged: Judged) -> str:
    """The verdict as Markdown: what is worse with its script, and the rest folded."""
    lines = [f"**clonediff**: {escaped(sentence(judged))}", ""]
    lines += [f"- worse: {escaped(_cause(cause))}" for cause in judged.worse]
    lines += [f"- worse: the script of {escaped(id_)} passed" for id_ in judged.breaks]
    for cause in judged.worse[:1]:
        script = [f"    {line}" for line in visible(cause.script[:4000]).splitlines()]
        lines += ["", "<details><summary>The script of the first</summary>", "", *script, "", "</details>"]
    for word, names in (("Mends", judged.mends), ("Gone, with another", judged.gone), ("Leaves", judged.leaves)):
        if names:
            lines += ["", f"<details><summary>{word} {len(names)}</summary>", "", ", ".join(names), "", "</details>"]
    return "\n".join((*lines, "", f"{escaped(judged.name)} against {escaped(judged.against)}", ""))
