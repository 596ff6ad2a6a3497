"""The cells of a page's tables, and its lists of facts."""

from __future__ import annotations

from collections.abc import Iterable

from clonediff.reports.markup import Child, Markup, join, tag


def cell(value: Child) -> Markup:
    """A cell. A text of many words needs room to be read, also where the screen has little."""
    words = "" if isinstance(value, Markup) else str(value)
    return tag("td", f"{value:,}" if isinstance(value, int) else value, class_="long" if len(words) > 28 else None)


def facts(told: Iterable[tuple[str, Child]]) -> Markup:
    """A list of names with what is said of each, without those of which nothing is."""
    rows = (join([tag("dt", name), tag("dd", said)]) for name, said in told if said)
    return tag("dl", *rows, class_="facts")
