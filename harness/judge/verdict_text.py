"""Format a verdict for a terminal, or as a comment on a pull request."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path

from clonediff.harness.judge.judging import SERIES, JudgeVerdict
from clonediff.reports.markup import escape_controls, escape_markdown, one_line
from clonediff.reports.verdict import quantity


def sentence(verdict: JudgeVerdict) -> str:
    if verdict.refused:
        return f"{verdict.summary}: {verdict.refused}"
    count = len(verdict.fixed) + len(verdict.hidden) + len(verdict.unfixed)
    regressions = len(verdict.regressions) + len(verdict.broken_scripts)
    parts = [
        f"fixes {len(verdict.fixed)} of {quantity(count, 'known issue')}",
        f"{quantity(verdict.model_count, 'model')} tried",
        quantity(regressions, "regression") if regressions else "no regressions",
    ]
    if verdict.test_count is not None:
        parts.append(f"{len(verdict.broken_tests)} of {verdict.test_count} tests of Keras fail")
    if verdict.stopped:
        parts.append(f"not everything was tried: {verdict.stopped}")
    return f"{verdict.summary}: {'; '.join(parts)}"


def terminal_lines(verdict: JudgeVerdict, *, series: bool = False) -> Iterator[str]:
    """Yield the lines for a terminal; for a fix of a `series`, only what it fixes or misses."""
    if series and verdict.name != SERIES and not verdict.refused:
        first = f"{one_line(Path(verdict.name).stem)} fixes {len(verdict.fixed)}"
        lists = {first: verdict.fixed, "  does not fix": verdict.missed_issues}
        if not verdict.fixed:
            yield first
    else:
        yield f"{one_line(verdict.name)}: {one_line(sentence(verdict))}"
        lists = {
            "  fixes": () if series else verdict.fixed,
            "  hidden: its script passes, but its model shows another bug": verdict.hidden,
            "  does not fix": verdict.unfixed,
            "  regression, a script": verdict.broken_scripts,
            "  regression, a test of Keras": verdict.broken_tests,
        }
    for label, ids in lists.items():
        if ids:
            line = f"{label}: {one_line(', '.join(ids))}"
            yield from textwrap.wrap(line, 118, subsequent_indent="    ", break_on_hyphens=False)
    for item in verdict.regressions:
        yield f"  regression: {item.severity}: {one_line(item.title)} [{item.id}]: {one_line(item.found)}"


def comment(verdict: JudgeVerdict) -> str:
    """The verdict as Markdown, with the worst regression's script."""
    _, *details = terminal_lines(verdict)
    items = (f"- {escape_markdown(line.strip())}" for line in details)
    lines = [f"**clonediff**: {escape_markdown(sentence(verdict))}", "", *items]
    for item in verdict.regressions[:1]:
        script = textwrap.indent(escape_controls(item.script[:4000]), "    ")
        lines += ["", "<details><summary>The script of the worst regression</summary>", "", script, "", "</details>"]
    return "\n".join((*lines, "", f"{escape_markdown(verdict.name)} against {escape_markdown(verdict.release)}", ""))
