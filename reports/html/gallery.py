"""The gallery as a page: every known cause that breaks, worst first; each opens to its script."""

from __future__ import annotations

from collections.abc import Sequence

from clonediff.reports.exhibits import Exhibit, Gallery, Standing, counted, link_word, linked, with_versions
from clonediff.reports.html import head_of, section, style
from clonediff.reports.html.findings import badge, folded
from clonediff.reports.markup import Child, Markup, facts, join, tag
from clonediff.reports.records import SEVERITIES

_TITLE = "What clone_model breaks"


def gallery_page(galleries: Sequence[Gallery]) -> str:
    """The page. It has no script, and takes nothing from anywhere."""
    sections = [(f"gallery-{number}", each.name, _of(each)) for number, each in enumerate(galleries)]
    said = "Written by clonediff gallery from reports/known_issues.toml. Each script needs Keras only."
    top = tag(
        "header",
        tag("h1", _TITLE),
        tag("p", said),
        tag("nav", *(tag("a", name, href=f"#{anchor}") for anchor, name, _ in sections), aria_label="Sections"),
    )
    body = tag("body", top, tag("main", *(section(*each) for each in sections)))
    return "<!doctype html>\n" + tag("html", head_of(_TITLE, style()), body, lang="en") + "\n"


def _of(gallery: Gallery) -> Markup:
    parts = [tag("p", f"{counted(gallery)} Tried with {with_versions(gallery)}.")]
    for standing in Standing:
        its = gallery.of(standing)
        if its and standing is not Standing.BREAKS:
            parts.append(tag("h3", f"{standing[:1].upper()}{standing[1:]}"))
        parts += [_exhibit(gallery, each) for each in its]
    return join(parts)


def _exhibit(gallery: Gallery, each: Exhibit) -> Markup:
    issue = each.issue
    head = tag(
        "summary",
        badge(SEVERITIES[each.severity], each.severity),
        tag("span", issue.title, class_="title"),
        tag("span", gallery.name, class_="subject"),
        tag("span", issue.id, class_="standing"),
    )
    link = linked(issue)
    told: list[tuple[str, Child]] = [("Known as", issue.id), *each.facts]
    told.append((link_word(issue), tag("a", link, href=link, rel="noopener noreferrer") if link else ""))
    parts = [tag("p", each.paragraph, class_="because")]
    if each.script:
        parts.append(tag("pre", tag("code", each.script), tabindex="0", aria_label="Script"))
    if each.incomplete:
        parts.append(tag("p", each.incomplete, class_="none"))
    return folded(f"cause-{issue.id}", head, [*parts, facts(told)])
