"""Elements of HTML and SVG, put together so that no text of a record can become one of them.

Every child and every attribute is escaped, unless it is `Markup` already, which only this module makes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from html import escape

LONGEST = 1000
"""The most characters of a text from elsewhere on one line."""

LONGEST_TEXT = 20_000
"""The most characters of any text in a report: a script or a message should be a screen."""

_VOID = frozenset(("meta", "br", "input", "hr"))


class Markup(str):
    """Text that is markup, and needs no escaping any more."""

    __slots__ = ()


Child = str | int | float | None


def tag(name: str, /, *children: Child, **attributes: Child | bool) -> Markup:
    """An element. `class_` and `for_` lose the underscore, others become hyphens; None and False are left out."""
    head = name
    for key, value in attributes.items():
        if value is True:
            head += f" {_attribute(key)}"
        elif value is not None and value is not False:
            head += f' {_attribute(key)}="{_escaped(str(value))}"'
    return Markup(f"<{head}>" if name in _VOID else f"<{head}>{join(children)}</{name}>")


def join(children: Iterable[Child]) -> Markup:
    """Children in a row; what is text only is escaped."""
    return Markup(
        "".join(
            [child if type(child) is Markup else "" if child is None else _escaped(str(child)) for child in children]
        )
    )


def raw(markup: str) -> Markup:
    """Markup that this package has written itself: never text of a record."""
    return Markup(markup)


def cell(value: Child) -> Markup:
    """A cell of a table. A text of many words needs room to be read, also where the screen has little."""
    words = "" if isinstance(value, Markup) else str(value)
    return tag("td", f"{value:,}" if isinstance(value, int) else value, class_="long" if len(words) > 28 else None)


def facts(told: Iterable[tuple[str, Child]]) -> Markup:
    """A list of names with their values; names without a value are left out."""
    rows = (join([tag("dt", name), tag("dd", said)]) for name, said in told if said)
    return tag("dl", *rows, class_="facts")


def scrolled(content: Markup, label: str, class_: str = "scroll") -> Markup:
    """Content that may be wider than the page; the keyboard can scroll it, too."""
    return tag("div", content, class_=class_, tabindex="0", role="region", aria_label=label)


def px(number: float) -> str:
    """A length or a place in an SVG, to a tenth."""
    return f"{number:.1f}".removesuffix(".0")


def visible(value: str) -> str:
    """Text without what HTML and XML cannot hold: control characters and halves of a pair stand as their code."""
    return _UNFIT.sub(lambda found: f"\\x{ord(found[0]):02x}", value)


def cut(text: str, most: int = LONGEST_TEXT) -> str:
    """A text that is no longer than that; where it was cut, it says how long it was."""
    if len(text) <= most:
        return text
    note = f"\u2026 [cut: {len(text):,} characters in all]"
    return text[: max(0, most - len(note))] + note


def one_line(text: str, most: int = LONGEST) -> str:
    """Text from elsewhere on one line, cut where it is too long: what a terminal would obey stands as its code."""
    shown = " ".join(visible(text).split())
    return shown if len(shown) <= most else shown[: most - 3] + "..."


_FIT = (
    "\\t\\n\\x20-\\x7e\\xa0-\\u061b\\u061d-\\u200d\\u2010-\\u2029\\u202f-\\u2065\\u206a-\\ud7ff\\ue000-\\ufefe"
    "\\uff00-\\ufffd\\U00010000-\\U000dffff\\U000e0100-\\U0010ffff"
)
_UNFIT = re.compile(f"[^{_FIT}]")
"""What no file can hold as it is; marks that turn the direction of text, or that nobody sees, too: a line would read
as another."""
_SPECIAL = re.compile(f"[&<>\"']|[^{_FIT}]")


def _escaped(text: str) -> str:
    # Most texts are words and numbers: one look says that there is nothing to do.
    return escape(visible(text)) if _SPECIAL.search(text) else text


@cache
def _attribute(key: str) -> str:
    return key.rstrip("_").replace("_", "-")
