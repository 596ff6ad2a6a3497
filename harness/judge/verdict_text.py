"""Format a verdict for a terminal, or as a comment on a pull request."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path

from clonediff.harness.judge.judging import ALL, Judged
from clonediff.reports.markup import escaped, one_line, visible
from clonediff.reports.verdict import quantity

_WIDTH = 118


def sentence(judged: Judged) -> str:
    """The verdict in one line."""
    if judged.refused:
        return f"{judged.word}: {judged.refused}"
    tried = len(judged.fixed) + len(judged.hidden) + len(judged.left)
    worse = len(judged.worse) + len(judged.breaks)
    parts = [
        f"fixes {len(judged.fixed)} of {quantity(tried, 'known issue')}",
        f"{quantity(judged.models, 'model')} tried",
        quantity(worse, "regression") if worse else "no regressions",
    ]
    if judged.tests is not None:
        parts.append(f"{len(judged.broken_tests)} of {judged.tests} tests of Keras fail")
    if judged.stopped:
        parts.append(f"not everything was tried: {judged.stopped}")
    return f"{judged.word}: {'; '.join(parts)}"


def terminal_lines(judged: Judged, *, series: bool = False) -> Iterator[str]:
    """The lines for a terminal; for one fix of a `series`, only what it fixes."""
    if series and judged.name != ALL and not judged.refused:
        first = f"{one_line(Path(judged.name).stem)}: {len(judged.fixed)}"
        lists = {first: judged.fixed, "  does not fix": judged.not_fixed}
        if not judged.fixed:
            yield first
    else:
        yield f"{one_line(judged.name)}: {one_line(sentence(judged))}"
        lists = {
            "  fixes": () if series else judged.fixed,
            "  hidden: its script passes, but its model shows another bug": judged.hidden,
            "  does not fix": judged.left,
            "  regression, a script": judged.breaks,
            "  regression, a test of Keras": judged.broken_tests,
        }
    for label, ids in lists.items():
        if ids:
            line = f"{label}: {one_line(', '.join(ids))}"
            yield from textwrap.wrap(line, _WIDTH, subsequent_indent="    ", break_on_hyphens=False)
    for cause in judged.worse:
        yield f"  regression: {cause.severity}: {one_line(cause.title)} [{cause.id}]: {one_line(cause.actual)}"


def comment(judged: Judged) -> str:
    """The verdict as Markdown, with the script of the worst regression."""
    _, *lines = terminal_lines(judged)
    lines = [f"**clonediff**: {escaped(sentence(judged))}", "", *(f"- {escaped(line.strip())}" for line in lines)]
    for cause in judged.worse[:1]:
        script = textwrap.indent(visible(cause.script[:4000]), "    ")
        lines += ["", "<details><summary>The script of the worst</summary>", "", script, "", "</details>"]
    return "\n".join((*lines, "", f"{escaped(judged.name)} against {escaped(judged.against)}", ""))
