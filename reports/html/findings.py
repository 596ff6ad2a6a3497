"""The findings of a page: each opens, with both graphs, the differences, the script and the text of its issue."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from typing import Any

from clonediff.reports.groups import sentences
from clonediff.reports.issue import PROMISES, issue
from clonediff.reports.markup import Markup, cell, facts, join, scrolled, tag, visible
from clonediff.reports.reading import RunRead, StoredFinding, slug
from clonediff.reports.records import Difference, Finding, Severity, cloner_said
from clonediff.reports.shortening import cut
from clonediff.reports.svg import Drawing
from clonediff.reports.verdict import counted, in_words, severity, severity_of, some

MOST = 40
"""The most differences in a table; the others are only counted."""

_COLUMNS = (
    ("new", "New first"),
    ("severity", "Severity"),
    ("title", "Title"),
    ("seen", "First seen"),
    ("count", "Times found"),
    ("subject", "Subject"),
    ("check", "Check"),
)


def findings(read: RunRead, drawings: Mapping[str, Drawing | str]) -> Markup:
    """All findings, with the tools that sort and search them."""
    in_order = _in_order(read)
    parts: list[Markup] = []
    if len(in_order) > 1:
        parts.append(_tools(len(in_order)))
    if not in_order and not read.unreadable:
        parts.append(tag("p", "Nothing new was found.", class_="none"))
    for name in read.unreadable:
        parts.append(tag("p", f"{name}: cannot be read", class_="finding unreadable"))
    parts += [tag("p", said, class_="group") for said in sentences([kept.finding for kept in in_order])]
    parts.append(tag("div", *(_finding(kept, drawings[kept.name]) for kept in in_order), id="list"))
    parts.append(tag("p", "No finding has all these words.", id="no-match", class_="none", hidden=True))
    return join([*parts, legend()]) if in_order else join(parts)


def data(read: RunRead) -> list[dict[str, Any]]:
    """What the script sorts and searches by, in the order of the page."""
    return [_row(kept) for kept in _in_order(read)]


def anchor(kept: StoredFinding, what: str = "finding") -> str:
    """The finding's name within the page, which stays the same in every report and run."""
    name = slug(kept.name)
    if name != kept.name:  # another folder's may come to the same; no slug has a tilde
        name += f"~{hashlib.sha256(os.fsencode(kept.name)).hexdigest()[:16]}"
    return f"{what}-{name}"


def _in_order(read: RunRead) -> list[StoredFinding]:
    """New findings, then those that do not count, then those of known issues; the worst of each first."""
    return [kept for group in counted(read.findings) for kept in group]


def _row(kept: StoredFinding) -> dict[str, Any]:
    finding = kept.finding
    root = finding.root
    kinds = {cut(layer.kind, 100) for layer in kept.graph.layers} if kept.graph is not None else set()
    words = [finding.id, finding.title, finding.cloner, finding.subject, severity_of(kept), _standing(kept)[0], *kinds]
    words += [f"{each.check} {each.path} {each.expected} {each.found}" for each in finding.differences[:MOST]]
    words += [*finding.notes, finding.blame, finding.detail]
    words += [root.raised.message, root.raised.frame] if root is not None and root.raised is not None else []
    return {
        "id": anchor(kept),
        "new": 0 if kept.counts else 1 if finding.known is None else 2,
        "severity": severity(finding.severity),
        "title": finding.title,
        "seen": finding.first_seen,
        "count": finding.count,
        "subject": f"{finding.subject} {finding.cloner}",
        "check": root.check if root is not None else "",
        "text": visible(" ".join(words)).lower(),
    }


def _tools(count: int) -> Markup:
    options = [tag("option", label, value=key) for key, label in _COLUMNS]
    return tag(
        "div",
        tag("label", "Search ", tag("input", type="search", id="search", placeholder="press /", autocomplete="off")),
        tag("label", "Sort by ", tag("select", *options, id="sort")),
        tag("button", "Reverse", type="button", id="reverse", aria_pressed="false"),
        tag("button", "Open all", type="button", id="open-all"),
        tag("span", some(count, "finding"), id="shown", role="status"),
        id="tools",
        class_="tools",
        hidden=True,
    )


def _finding(kept: StoredFinding, drawing: Drawing | str) -> Markup:
    finding = kept.finding
    said, class_ = _standing(kept)
    subject = " \u00b7 ".join(word for word in (finding.where, cloner_said(finding.cloner)) if word)
    head = tag(
        "summary",
        badge(severity_of(kept), finding.severity),
        tag("span", finding.title, class_="title"),
        tag("span", subject, class_="subject"),
        tag("span", said, class_=f"standing {class_}"),
        tag("span", f"{finding.count} times", class_="standing") if finding.count > 1 else "",
    )
    return folded(anchor(kept), head, [_facts(kept), *shown(kept, drawing)])


def badge(said: str, severity: Severity | None) -> Markup:
    """How bad it is, in its colour."""
    return tag("span", said, class_=f"badge severity-{'none' if severity is None else int(severity)}")


def folded(id_: str, head: Markup, parts: Sequence[Markup]) -> Markup:
    """A line that opens."""
    return tag("article", tag("details", head, tag("div", *parts, class_="inside")), id=id_, class_="finding")


def shown(kept: StoredFinding, drawing: Drawing | str) -> list[Markup]:
    """Both graphs, the differences, the script and the text of the issue."""
    return [
        _graphs(kept, drawing),
        _differences(kept.finding),
        _copied("Script", kept.script, "repro.py"),
        _copied("Issue", kept.issue or issue(kept.finding, kept.script), "issue.md", closed=True),
    ]


def _standing(kept: StoredFinding) -> tuple[str, str]:
    finding = kept.finding
    if finding.known is not None:
        return f"known issue: {finding.known}", "is-known"
    return finding.alone, {True: "is-proven", False: "is-unproven", None: "is-untold"}[finding.proof]


def _facts(kept: StoredFinding) -> Markup:
    finding = kept.finding
    told = [
        ("Fingerprint", finding.id),
        ("Versions", in_words(finding.versions)),
        ("First seen", finding.first_seen),
        ("Times found", str(finding.count)),
        ("Graph", "" if finding.smallest else "could be smaller: there was no time to make it so"),
        ("Whose fault", finding.blame),
        ("Since", finding.since or ""),
        ("By release", finding.history),
        ("By commit", finding.commits),
        ("Message", finding.detail),
    ]
    link = tag("a", "link to this finding", href=f"#{anchor(kept)}", class_="link")
    notes = [tag("p", note, class_="note") for note in finding.notes]
    return join([*notes, facts(told), tag("p", link)])


def _graphs(kept: StoredFinding, drawing: Drawing | str) -> Markup:
    if isinstance(drawing, str):
        return tag("p", f"Not drawn: {drawing}.", class_="none")
    panels = [_panel(name, drawing.one(side)) for side, name in drawing.sides]
    return tag("div", *panels, class_="graphs")


def _panel(name: str, drawing: Markup) -> Markup:
    return tag("figure", tag("figcaption", name), scrolled(drawing, f"Graph, {name}"))


def _differences(finding: Finding) -> Markup:
    if not finding.differences:
        return Markup()
    root = finding.differences[0]
    parts = [tag("h3", "Differences"), tag("p", PROMISES.get(root.check, ""), class_="promise")]
    if root.raised is not None:
        frame = f" at {root.raised.frame}" if root.raised.frame else ""
        parts.append(tag("p", tag("strong", f"{root.raised.type}{frame}")))
        parts.append(tag("pre", root.raised.message, class_="wrapped", tabindex="0"))
    head = tag(
        "tr", *(tag("th", name, scope="col") for name in ("Check", "Where", "What", "Original", "Clone", "Numbers"))
    )
    rows = [_difference(each, number == 0) for number, each in enumerate(finding.differences[:MOST])]
    if len(finding.differences) > MOST:
        rows.append(tag("tr", tag("td", f"and {len(finding.differences) - MOST} more", colspan=6)))
    table = tag("table", tag("thead", head), tag("tbody", *rows))
    return join([*parts, scrolled(table, "Differences")])


def _difference(each: Difference, is_root: bool) -> Markup:
    where = each.path
    if each.first is not None:
        where += f" at {each.first.said}"
    expected, found, numbers = each.expected, each.found, ""
    if each.numbers is not None:
        expected, found, numbers = each.numbers.expected, each.numbers.found, each.numbers.said
        numbers += f"; the first {each.numbers.at}" if each.numbers.at else ""
    cells = (each.check, where, each.aspect, expected, found, numbers)
    return tag("tr", *(cell(each) for each in cells), class_="root" if is_root else None)


def _copied(head: str, text: str, file: str, *, closed: bool = False) -> Markup:
    button = tag("button", "Copy", type="button", class_="copy", hidden=True, aria_label=f"Copy {file}")
    content = tag("pre", tag("code", text), tabindex="0", aria_label=file)
    if closed:
        return tag(
            "details", tag("summary", f"{head}: {file}"), tag("div", button, content, class_="code"), class_="more"
        )
    return join([tag("h3", f"{head}: {file}"), tag("div", button, content, class_="code")])


def legend() -> Markup:
    """How the drawings are to be read."""
    said = (
        "In the drawings, a red frame marks the first layer where original and clone differ, an orange frame any "
        "other. A dashed violet line may carry a mask. A letter with a number marks a call of a shared layer."
    )
    return tag("p", said, class_="legend")
