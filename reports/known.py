"""Known issues: what breaks, why, and where that is reported. Each is a script in `reports/known`.

A script is plain Keras: it builds a model, clones it, and fails where the issue is there. Its docstring has the title
and the reason. A comment block above the code has the rest in TOML, in the form of PEP 723: which releases have the
issue, how bad it is, and which causes it explains.
"""

from __future__ import annotations

import ast
import fnmatch
import functools
import re
import tomllib
from pathlib import Path
from typing import Any

import msgspec

from clonediff.reports.records import AT_LEAST, Cause, RecordError, Severity
from clonediff.strategies.program import Generation

KNOWN_ISSUES = Path(__file__).with_name("known")

Globs = str | tuple[str, ...]

_BLOCK = re.compile(r"(?m)^# /// clonediff\n((?:#(?: .*)?\n)*?)# ///\n")


class Pattern(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the root of a cause is like.

    A field is a text or a list of texts, one of which must match; `*` stands for any characters and `?` for one. A
    field that is left out matches anything. `kind` is the class of the layer at fault, `inside` that of the layer or
    the model that holds it. `found` is what the clone has where the original has what is `expected`; of an exception
    it is the type and the message. `given` is an argument of `clone_model`, or a fact of the model (`given` of
    `Cause`).
    """

    check: Globs | None = None
    aspect: Globs | None = None
    path: Globs | None = None
    kind: Globs | None = None
    inside: Globs | None = None
    expected: Globs | None = None
    found: Globs | None = None
    exception: Globs | None = None
    frame: Globs | None = None
    given: Globs | None = None


class KnownIssue(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An issue of the `clone_model` of one generation, with the script that shows it.

    It is in the releases from `since` on, and no longer in `until`; either is open if it is None. The script raises
    `raises` where the issue is there. `fingerprint` is that of the cause which a trial of the script's model finds;
    it is None where no trial shows the issue, and then `match` may be empty. `trial` has what a trial needs beside
    the script.
    """

    id: str
    generation: Generation
    title: str
    because: str
    severity: Severity
    script: str
    match: tuple[Pattern, ...] = ()
    raises: str = "AssertionError"
    fingerprint: str | None = None
    trial: dict[str, Any] = {}
    since: str | None = None
    until: str | None = None
    link: str | None = None
    documented: bool = False

    def __post_init__(self) -> None:
        """Refuse what says less, or other, than its author meant."""
        if self.fingerprint is not None and not self.match:
            raise ValueError("`fingerprint` needs at least one [[match]]")
        for number, pattern in enumerate(self.match, 1):
            if pattern.check is None:
                raise ValueError(f"[[match]] {number} has no `check`: it would match causes of any kind")
        for field, release in (("since", self.since), ("until", self.until)):
            if release is not None and not _numbers(release):
                raise ValueError(f"`{field}` is {release!r}, expected a release such as '3.12.0'")
        if self.since and self.until and _numbers(self.since) >= _numbers(self.until):
            raise ValueError(
                f"`until` {self.until} is not after `since` {self.since}: it is the first release without the issue"
            )

    def is_in(self, release: str) -> bool:
        """Whether a release has the issue."""
        here = _numbers(release)
        if self.since is not None and here < _numbers(self.since):
            return False
        return self.until is None or here < _numbers(self.until)

    def explains(self, cause: Cause) -> bool:
        """Whether the issue is the cause."""
        return any(matches(pattern, cause) for pattern in self.match)


class KnownIssues(msgspec.Struct, frozen=True):
    """Known issues in the order of their ids."""

    issues: tuple[KnownIssue, ...] = ()

    def on(self, generation: str, release: str | None = None) -> KnownIssues:
        """The issues of a generation, and of one release unless it is None."""
        return KnownIssues(
            tuple(
                issue
                for issue in self.issues
                if issue.generation == generation and (release is None or issue.is_in(release))
            )
        )

    def of(self, cause: Cause) -> KnownIssue | None:
        """The first issue that explains a cause."""
        return next((issue for issue in self.issues if issue.explains(cause)), None)

    def get(self, name: str) -> KnownIssue | None:
        """The issue of that id."""
        return next((issue for issue in self.issues if issue.id == name), None)


def load(folder: Path = KNOWN_ISSUES) -> KnownIssues:
    """Read the scripts of a folder; a `RecordError` names the file and the field that is wrong."""
    if not folder.is_dir():
        raise RecordError(f"{folder}: not a folder; name one with a script for each known issue")
    return KnownIssues(tuple(read_issue(path) for path in sorted(folder.glob("*.py"))))


def read_issue(path: Path) -> KnownIssue:
    """Read the script of one known issue."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise RecordError(f"{path}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise RecordError(f"{path}: not UTF-8: {error.reason} at byte {error.start}") from error
    try:
        docstring = ast.get_docstring(ast.parse(text)) or ""
    except (SyntaxError, ValueError, RecursionError) as error:
        raise RecordError(f"{path}: not Python: {error}") from error
    title, _, because = docstring.partition("\n\n")
    if not title.strip() or not because.strip():
        raise RecordError(f"{path}: the docstring needs a title, a blank line, and the reason")
    blocks = _BLOCK.findall(text)
    if len(blocks) != 1:
        raise RecordError(f"{path}: expected one block from `# /// clonediff` to `# ///`, found {len(blocks)}")
    try:
        header = tomllib.loads(re.sub(r"(?m)^# ?", "", blocks[0]))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise RecordError(f"{path}: the block `# /// clonediff` is not TOML: {error}") from error
    severity = header.get("severity")
    if severity not in AT_LEAST:
        raise RecordError(f"{path}: `severity` is {severity!r}, expected one of {', '.join(AT_LEAST)}")
    text_of = {"id": path.stem, "title": _one_line(title), "because": _one_line(because), "script": text}
    try:
        return msgspec.convert({**header, **text_of, "severity": AT_LEAST[severity]}, KnownIssue)
    except msgspec.ValidationError as error:
        raise RecordError(f"{path}: {error}") from error


def matches(pattern: Pattern, cause: Cause) -> bool:
    """Whether a cause is like a pattern in every field that the pattern has."""
    root = cause.root
    facts = {name: [getattr(root, name)] for name in ("check", "aspect", "path", "expected", "found")}
    facts |= {"kind": [root.first.kind if root.first else ""], "inside": [root.first.inside if root.first else ""]}
    facts |= {
        "exception": [root.raised.type if root.raised else ""],
        "frame": [root.raised.frame if root.raised else ""],
    }
    facts["given"] = list(cause.given)
    patterns = ((getattr(pattern, name), texts) for name, texts in facts.items())
    return all(globs is None or any(_is_like(text, globs) for text in texts) for globs, texts in patterns)


def _is_like(text: str, globs: Globs) -> bool:
    choices = (globs,) if isinstance(globs, str) else globs
    return any(_compiled(glob).fullmatch(text) for glob in choices)


@functools.cache
def _compiled(glob: str) -> re.Pattern[str]:
    return re.compile(fnmatch.translate(glob.replace("[", "[[]")))


def _one_line(text: str) -> str:
    return " ".join(text.split()).removesuffix(".")


def _numbers(release: str) -> tuple[int, ...]:
    """A release as numbers to compare; empty if it is none. A development release counts as its release."""
    numbers = re.match(r"(\d+)(?:\.(\d+))?(?:\.(\d+))?", release)
    return tuple(int(number or 0) for number in numbers.groups()) if numbers else ()
