"""The cells of a page's tables."""

from __future__ import annotations

from reports.markup import Child, Markup, tag


def cell(value: Child) -> Markup:
    """A cell. A text of many words needs room to be read, also where the screen has little."""
    words = "" if isinstance(value, Markup) else str(value)
    return tag("td", f"{value:,}" if isinstance(value, int) else value, class_="long" if len(words) > 28 else None)
