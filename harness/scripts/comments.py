"""Text from a record as part of a comment in a script: it can end neither the comment nor the line."""

from __future__ import annotations

import re
from collections.abc import Mapping

from clonediff.reports.markup import visible

_LONGEST = 160
_ENCODING = re.compile(r"(coding)(?=[:=])")
"""In a file's first lines it says in which encoding the file is, and in some a comment can hold the end of its line."""


def comment(text: str) -> str:
    """The text on one line, cut where it is long; control characters stand as their code."""
    line = _ENCODING.sub("\\1 ", " ".join(visible(text).split()))
    return line if len(line) <= _LONGEST else line[: _LONGEST - 3] + "..."


def named(versions: Mapping[str, str]) -> str:
    """What a script was seen to fail on, as a comment."""
    return "# " + comment(", ".join(f"{name} {version}" for name, version in versions.items()))
