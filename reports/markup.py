"""Text from elsewhere as a report or a terminal can show it: without control characters, and not too long."""

from __future__ import annotations

import re
from html import escape

LONGEST = 1000
"""The most characters of a text from elsewhere on one line."""

LONGEST_TEXT = 20_000
"""The most characters of any text in a report: a script or a message should be a screen."""


def visible(value: str) -> str:
    """Text without what HTML and XML cannot hold: control characters and halves of a pair stand as their code."""
    return _UNFIT.sub(lambda match: f"\\x{ord(match[0]):02x}", value)


def cut(text: str, most: int = LONGEST_TEXT) -> str:
    """A text that is no longer than that; where it was cut, it says how long it was."""
    if len(text) <= most:
        return text
    note = f"\u2026 [cut: {len(text):,} characters in all]"
    return text[: max(0, most - len(note))] + note


def one_line(text: str, most: int = LONGEST) -> str:
    """Text from elsewhere on one line, cut where it is too long: what a terminal would obey stands as its code."""
    line = " ".join(visible(text).split())
    return line if len(line) <= most else line[: most - 3] + "..."


def code(text: str) -> str:
    """Text as code within a line: no backtick, tag or mention in it means anything."""
    line = " ".join(visible(cut(text, LONGEST)).split()) or " "
    ticks = "`" * (1 + max((len(run) for run in re.findall(r"`+", line)), default=0))
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{pad}{line}{pad}{ticks}"


def fenced(text: str, language: str = "") -> str:
    text = cut(text)
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    return f"{fence}{language}\n{text}\n{fence}"


def escaped(text: str) -> str:
    """Text within a line or a table of Markdown, where nothing of it is markup, a link or a mention."""
    line = " ".join(cut(text, LONGEST).split())
    # An underscore within a word is one in Markdown too, and a title is pasted where nothing is.
    line = escape(re.sub(r"([\\`*\[\]#|~!]|(?<!\w)_|_(?!\w))", r"\\\1", line), quote=False)
    return re.sub(r"@(?=\w)", "@\u200b", line)


def unlinked(text: str) -> str:
    """Text in which no address becomes a link: where it leads is unchecked."""
    return re.sub(r"(?i)://|\bwww\.", lambda match: f"{match[0][:-1]}\u200b{match[0][-1]}", escaped(text))


_WHERE = re.compile(r"Exception encountered when calling .*|Graph execution error:|Detected at node .*|\s*")
"""Lines that say where something was raised, and not what."""
_VARIES = re.compile(r"(?<!\w)'[^']*'(?!\w)|\"[^\"]*\"|`[^`]*`|<[^<>]*>|\([^()]*\)|\b\w*_\d+\b|-?\d[\d.e+-]*")
"""The names, shapes and numbers of one graph."""


def reason(type_: str, message: str) -> str:
    """An exception in a line without the names and numbers of one graph, so that many graphs share it."""
    line = next((line for line in message.splitlines() if not _WHERE.fullmatch(line)), "")
    return one_line(f"{type_}: {_VARIES.sub('…', line)}", 160)


_FIT = (
    "\\t\\n\\x20-\\x7e\\xa0-\\u061b\\u061d-\\u200d\\u2010-\\u2029\\u202f-\\u2065\\u206a-\\ud7ff\\ue000-\\ufefe"
    "\\uff00-\\ufffd\\U00010000-\\U000dffff\\U000e0100-\\U0010ffff"
)
_UNFIT = re.compile(f"[^{_FIT}]")
"""What no file can hold as it is; marks that turn the direction of text, or that are invisible, too: a line would read
as another."""
