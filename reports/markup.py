"""Escape and shorten texts for reports and terminals."""

from __future__ import annotations

import re
from html import escape

MAX_LINE = 1000
"""The maximum length of a line."""

MAX_TEXT = 20_000
"""The maximum length of a text in a report, such as a script."""


def escape_controls(value: str) -> str:
    """Replace characters that are invisible, or invalid in HTML and XML, with their codes."""
    return _UNSAFE_CHARACTER.sub(lambda match: f"\\x{ord(match[0]):02x}", value)


def shorten(text: str, max_length: int = MAX_TEXT) -> str:
    """Cut a text that is too long, and append its full length."""
    if len(text) <= max_length:
        return text
    note = f"\u2026 [cut: {len(text):,} characters in all]"
    return text[: max(0, max_length - len(note))] + note


def one_line(text: str, max_length: int = MAX_LINE) -> str:
    """Join the lines of a text, escape its control characters, and cut it."""
    line = " ".join(escape_controls(text).split())
    return line if len(line) <= max_length else line[: max_length - 3] + "..."


def inline_code(text: str) -> str:
    """Format a text, which may have backticks, as inline code of Markdown."""
    line = " ".join(escape_controls(shorten(text, MAX_LINE)).split()) or " "
    ticks = "`" * (1 + max((len(run) for run in re.findall(r"`+", line)), default=0))
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{pad}{line}{pad}{ticks}"


def code_block(text: str, language: str = "") -> str:
    text = shorten(text)
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    return f"{fence}{language}\n{text}\n{fence}"


def escape_markdown(text: str) -> str:
    """Escape markup, links and mentions for a line or a table of Markdown."""
    line = " ".join(shorten(text, MAX_LINE).split())
    # Underscores within words have no effect in Markdown.
    line = escape(re.sub(r"([\\`*\[\]#|~!]|(?<!\w)_|_(?!\w))", r"\\\1", line), quote=False)
    return re.sub(r"@(?=\w)", "@\u200b", line)


def escape_links(text: str) -> str:
    """Escape a text for Markdown, so that no address in it becomes a link."""
    return re.sub(r"(?i)://|\bwww\.", lambda match: f"{match[0][:-1]}\u200b{match[0][-1]}", escape_markdown(text))


_LOCATION = re.compile(r"Exception encountered when calling .*|Graph execution error:|Detected at node .*|\s*")
"""Lines of a message that only say where an exception was raised."""
_VARIABLE_PARTS = re.compile(r"(?<!\w)'[^']*'(?!\w)|\"[^\"]*\"|`[^`]*`|<[^<>]*>|\([^()]*\)|\b\w*_\d+\b|-?\d[\d.e+-]*")
"""Names, shapes and numbers, which differ between graphs."""


def reason(type_: str, message: str) -> str:
    """An exception in one line; `…` replaces names and numbers."""
    line = next((line for line in message.splitlines() if not _LOCATION.fullmatch(line)), "")
    return one_line(f"{type_}: {_VARIABLE_PARTS.sub('…', line)}", 160)


_SAFE_CHARACTERS = (
    "\\t\\n\\x20-\\x7e\\xa0-\\u061b\\u061d-\\u200d\\u2010-\\u2029\\u202f-\\u2065\\u206a-\\ud7ff\\ue000-\\ufefe"
    "\\uff00-\\ufffd\\U00010000-\\U000dffff\\U000e0100-\\U0010ffff"
)
_UNSAFE_CHARACTER = re.compile(f"[^{_SAFE_CHARACTERS}]")
"""Control characters, surrogates, and marks that are invisible or change the direction of text."""
