"""What Keras breaks, first on the page: a line for each known cause; it opens to its example, reason and releases."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence

from clonediff.reports.broken import Broken
from clonediff.reports.html.findings import anchor, badge, folded, legend, shown
from clonediff.reports.markup import Child, Markup, facts, join, tag
from clonediff.reports.records import KnownMet
from clonediff.reports.summary import still
from clonediff.reports.svg import Drawing
from clonediff.reports.verdict import some


def causes(found: Sequence[Broken], examples: Mapping[str, Drawing | str]) -> Markup:
    """The known causes, worst first."""
    if not found:
        return tag("p", "No known issue was met.", class_="none")
    said = "Known issues that this run met, worst first. Each opens to its reason, its releases and a script."
    parts = [tag("p", said), *(_cause(each, examples) for each in found)]
    return join([*parts, legend()] if any(each.shown is not None for each in found) else parts)


def linked(issue: KnownMet, text: Child) -> Child:
    """A text that leads where the issue's link does, if that is a page: what a file says may be any text at all."""
    link = re.fullmatch(r"https?://[^\s\"'<>]+", issue.link or "")
    return tag("a", text, href=issue.link, rel="noopener noreferrer") if link else text


def _cause(each: Broken, examples: Mapping[str, Drawing | str]) -> Markup:
    issue, kept = each.issue, each.shown
    head = tag(
        "summary",
        badge(each.severity_said, each.severity),
        tag("span", issue.title, class_="title"),
        tag("span", ", ".join(each.subjects), class_="subject"),
        tag("span", some(each.graphs, "graph"), class_="standing"),
    )
    told: list[tuple[str, Child]] = [
        ("Known as", linked(issue, issue.id)),
        ("Since", issue.since or "not known"),
        ("Gone in", issue.until or ""),
        ("Still breaks", still(issue)),
        ("Its script", kept.finding.alone if kept is not None else ""),
        ("Folder", f"known/{kept.name}" if kept is not None else ""),
    ]
    parts = [tag("p", tag("strong", "Why: "), issue.because, class_="because"), facts(told)]
    if kept is None:
        parts.append(tag("p", "No example of it was tried in this run, so there is no script.", class_="none"))
    else:
        parts += shown(kept, examples[kept.name])
    return folded(_anchor(each), head, parts)


def _anchor(each: Broken) -> str:
    if each.shown is not None:
        return anchor(each.shown, "known")
    return f"known-{hashlib.sha256(each.issue.id.encode('utf-8', 'replace')).hexdigest()[:16]}"
