"""A verdict for a terminal, and for a comment on a pull request. Pure."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

from clonediff.harness.judge.judging import ALL, Judged
from clonediff.reports.markup import escaped, one_line, visible
from clonediff.reports.verdict import some

_WIDTH = 118


def sentence(judged: Judged) -> str:
    """The verdict in a line."""
    if judged.refused:
        return f"{judged.word}: {judged.refused}"
    tried = len(judged.mends) + len(judged.gone) + len(judged.leaves)
    worse = len(judged.worse) + len(judged.breaks)
    parts = [
        f"mends {len(judged.mends)} of {some(tried, 'known issue')}",
        f"{some(judged.models, 'model')} tried",
        f"{some(worse, 'thing') if worse else 'nothing is'} worse",
    ]
    if judged.tests.passing is not None:
        parts.append(f"{len(judged.tests.broken)} of {judged.tests.passing} tests of Keras fail")
    if judged.stopped:
        parts.append(f"not all was tried: {judged.stopped}")
    return f"{judged.word}: {'; '.join(parts)}"


def terminal_lines(judged: Judged, *, series: bool = False) -> Iterator[str]:
    """The lines for a terminal; of one fix of a series, what it mends."""
    if series and judged.name != ALL and not judged.refused:
        name = f"{Path(judged.name).stem}: {len(judged.mends)}"
        yield from _wrapped(name, judged.mends) if judged.mends else [one_line(name)]
        yield from _wrapped("  does not fix", judged.fails)
        return
    yield f"{one_line(judged.name)}: {one_line(sentence(judged))}"
    if not series:
        yield from _wrapped("  mends", judged.mends)
    yield from _wrapped("  gone, with another on the model", judged.gone)
    yield from _wrapped("  leaves", judged.leaves)
    yield from _wrapped("  worse, its script passed", judged.breaks)
    yield from _wrapped("  worse, a test of Keras passed", judged.tests.broken)
    for cause in judged.worse:
        yield f"  worse: {cause.severity}: {one_line(cause.title)} [{cause.id}]: {one_line(cause.actual)}"


def _wrapped(words: str, ids: Sequence[str]) -> Iterator[str]:
    """A line, or several, with ids; nothing where there are none."""
    if ids:
        indent = words[: -len(words.lstrip())]
        yield from textwrap.wrap(
            f"{words}: {one_line(', '.join(ids))}",
            _WIDTH,
            subsequent_indent=f"{indent}    ",
            break_on_hyphens=False,
        )


def comment(judged: Judged) -> str:
    """The verdict as Markdown, with the script of the worst."""
    _, *lines = terminal_lines(judged)
    lines = [f"**clonediff**: {escaped(sentence(judged))}", "", *(f"- {escaped(line.strip())}" for line in lines)]
    for cause in judged.worse[:1]:
        script = textwrap.indent(visible(cause.script[:4000]), "    ")
        lines += ["", "<details><summary>The script of the first</summary>", "", script, "", "</details>"]
    return "\n".join((*lines, "", f"{escaped(judged.name)} against {escaped(judged.against)}", ""))
