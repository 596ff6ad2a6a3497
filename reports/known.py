"""Read the known issues: bugs of `clone_model`, and limits, which are not bugs.

A script of `reports/known` is plain Keras: it builds a model, clones it, and fails if the release has the bug. Its
docstring has the title, the reason, and links to the lines of Keras at fault. A comment block at its end has
the other fields of `KnownIssue`. `limits.toml` has the limits: behaviour that Keras documents or would not change.
"""

from __future__ import annotations

import ast
import fnmatch
import functools
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec

from clonediff.reports.records import SEVERITIES, Cause, RecordError, Severity
from clonediff.strategies.program import Generation

KNOWN_ISSUES = Path(__file__).with_name("known")

LIMITS_FILE = "limits.toml"

ROOTS = {
    "file-format": "A clone goes through a file format",
    "class-config": "The config of a class does not round-trip",
    "rebuilt": "Inputs and models are rebuilt from a few attributes",
    "settings": "Settings of a layer do not reach its sublayers and weights",
    "operations": "Operations and call arguments go through configs",
    "order": "Calls and weights come in another order",
    "state": "State is not restored with the weights",
    "arguments": "Arguments of `clone_model` are not checked",
    "sharing": "A clone keeps objects of the original",
    "names": "Names and paths change",
}
"""The titles of the root causes; a change to Keras can fix all bugs with the same root cause."""

_KERAS_TEAM = "https://github.com/keras-team/"

Globs = str | tuple[str, ...]

_BLOCK = re.compile(r"(?m)^# /// clonediff\n((?:#(?: .*)?\n)*?)# ///\n")


class Pattern(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A pattern for the first difference of a cause.

    A field is a text, or a list of texts of which one must match; `*` stands for any characters, `?` for one character.
    A missing field matches everything. `kind` is the class of the layer at fault, `inside` the class of the layer or
    model that holds the layer. `expected` is the value in the original; `found` is the value in the clone, or the type
    and message of the exception. `given` is a fact of `Cause.given`, such as "a custom layer".
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
    """A bug or a limit of the `clone_model` of one generation.

    - `verdict`: what a maintainer would say. A limit has no script and no root cause.
    - `severity`: the worst severity that the script shows; `raises`: the type of the exception that ends it.
    - `since`: the first release with the bug; `until`: the first release without it; None if there is none.
    - `loading`: `load_model` has the bug, too.
    - `lines`: permalinks to the lines at fault.
    - `fingerprint`: the cause that a trial of the script's model finds; None if no trial shows the bug.
    - `trial`: fields of a `Case` that cannot be read from the script.
    - `backends`: the backends on which the script fails; all if empty.
    - `workaround`: what a user can do.
    """

    id: str
    generation: Generation
    title: str
    reason: str
    verdict: Literal["accept", "minor", "limit"]
    severity: Severity = Severity.NAME
    root: str = ""
    script: str = ""
    lines: tuple[str, ...] = ()
    loading: bool = False
    match: tuple[Pattern, ...] = ()
    raises: str = "AssertionError"
    fingerprint: str | None = None
    trial: dict[str, Any] = {}
    since: str | None = None
    until: str | None = None
    link: str | None = None
    documented: bool = False
    backends: tuple[str, ...] = ()
    workaround: str = ""

    def __post_init__(self) -> None:
        if self.verdict != "limit" and self.root not in ROOTS:
            raise ValueError(f"`root` is {self.root!r}, expected one of {', '.join(ROOTS)}")
        if self.fingerprint is not None and not self.match:
            raise ValueError("it has a `fingerprint` but no [[match]]: add one")
        for number, pattern in enumerate(self.match, 1):
            if pattern.check is None:
                raise ValueError(f"[[match]] {number} has no `check`, so it would match causes of any check: add one")
        for field, release in (("since", self.since), ("until", self.until)):
            if release is not None and not _release_numbers(release):
                raise ValueError(f"`{field}` is {release!r}, expected a release such as '3.12.0'")
        if self.since and self.until and _release_numbers(self.since) >= _release_numbers(self.until):
            raise ValueError(
                f"`until` {self.until} is not after `since` {self.since}: it is the first release without the issue"
            )

    @property
    def code(self) -> str:
        """The script without its comment block."""
        return _BLOCK.sub("", self.script).rstrip() + "\n"

    @property
    def files(self) -> tuple[str, ...]:
        """The files of Keras at fault, the one with the main fault first."""
        return tuple(dict.fromkeys(line.split("/src/", 1)[1].partition("#")[0] for line in self.lines))

    def is_in(self, release: str) -> bool:
        """Whether a release has the issue."""
        numbers = _release_numbers(release)
        has_begun = self.since is None or _release_numbers(self.since) <= numbers
        return has_begun and (self.until is None or numbers < _release_numbers(self.until))

    def explains(self, cause: Cause) -> bool:
        return any(matches(pattern, cause) for pattern in self.match)


class KnownIssues(msgspec.Struct, frozen=True):
    """All known issues: bugs in the order of their ids, then limits."""

    issues: tuple[KnownIssue, ...] = ()

    @property
    def bugs(self) -> tuple[KnownIssue, ...]:
        """The issues that have a script."""
        return tuple(issue for issue in self.issues if issue.verdict != "limit")

    def select(self, generation: str, release: str | None = None) -> KnownIssues:
        """A generation's issues, or only those of one release."""
        issues = (issue for issue in self.issues if issue.generation == generation)
        return KnownIssues(tuple(issue for issue in issues if release is None or issue.is_in(release)))

    def find(self, cause: Cause) -> KnownIssue | None:
        """The first issue that explains a cause, or None."""
        return next((issue for issue in self.issues if issue.explains(cause)), None)

    def get(self, name: str) -> KnownIssue | None:
        return next((issue for issue in self.issues if issue.id == name), None)


def load(folder: Path = KNOWN_ISSUES) -> KnownIssues:
    """Read a folder's scripts and limits; raise `RecordError` with file and field."""
    if not folder.is_dir():
        raise RecordError(f"{folder}: not a folder; name a folder with a script for each known issue")
    bugs = tuple(read_issue(path) for path in sorted(folder.glob("*.py")))
    return KnownIssues((*bugs, *_read_limits(folder / LIMITS_FILE)))


def read_issue(path: Path) -> KnownIssue:
    text = _read_text(path)
    try:
        docstring = ast.get_docstring(ast.parse(text)) or ""
    except (SyntaxError, ValueError, RecursionError) as error:
        raise RecordError(f"{path}: not Python: {error}") from error
    title, _, reason = docstring.partition("\n\n")
    lines = tuple(line for line in reason.splitlines() if line.startswith(_KERAS_TEAM))
    reason = _one_line(" ".join(line for line in reason.splitlines() if line not in lines))
    if not title.strip() or not lines:
        raise RecordError(f"{path}: its docstring needs a title, a blank line, and links to lines of Keras")
    header = header_of(text, path)
    severity = header.get("severity")
    if severity not in SEVERITIES:
        raise RecordError(f"{path}: `severity` is {severity!r}, expected one of {', '.join(SEVERITIES)}")
    if header.get("verdict") == "limit":
        raise RecordError(f"{path}: a limit has no script: put it into {LIMITS_FILE}")
    header |= {"id": path.stem, "title": _one_line(title), "reason": reason}
    header |= {"script": text, "lines": lines}
    return _known_issue({**header, "severity": SEVERITIES[severity]}, path)


def header_of(text: str, path: Path) -> dict[str, Any]:
    """The fields in a script's comment block."""
    blocks = _BLOCK.findall(text)
    if len(blocks) != 1:
        raise RecordError(f"{path}: expected one block from `# /// clonediff` to `# ///`, found {len(blocks)}")
    return _parse_toml(re.sub(r"(?m)^# ?", "", blocks[0]), path)


def _read_limits(path: Path) -> Iterator[KnownIssue]:
    if path.is_file():
        for name, limit in _parse_toml(_read_text(path), path).items():
            if not isinstance(limit, dict):
                raise RecordError(f"{path}: expected a table for each limit, found the value `{name}`")
            yield _known_issue({**limit, "id": name, "verdict": "limit"}, path, name)


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise RecordError(f"{path}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise RecordError(f"{path}: not UTF-8: {error.reason} at byte {error.start}") from error


def _parse_toml(text: str, path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise RecordError(f"{path}: not TOML: {error}") from error


def _known_issue(fields: dict[str, Any], path: Path, name: str = "") -> KnownIssue:
    try:
        return msgspec.convert(fields, KnownIssue)
    except msgspec.ValidationError as error:
        raise RecordError(f"{path}: {f'{name}: ' if name else ''}{error}") from error


def matches(pattern: Pattern, cause: Cause) -> bool:
    root = cause.root
    place = root.first
    raised = root.raised
    facts = {name: [getattr(root, name)] for name in ("check", "aspect", "path", "expected", "found")}
    facts |= {"kind": [place.kind if place else ""], "inside": [place.inside if place else ""]}
    facts |= {"exception": [raised.type if raised else ""], "frame": [raised.frame if raised else ""]}
    facts["given"] = [*cause.given]
    patterns = ((getattr(pattern, name), texts) for name, texts in facts.items())
    return all(globs is None or any(_matches_any(text, globs) for text in texts) for globs, texts in patterns)


def _matches_any(text: str, globs: Globs) -> bool:
    patterns = (globs,) if isinstance(globs, str) else globs
    return any(_compile_glob(glob).fullmatch(text) for glob in patterns)


@functools.cache
def _compile_glob(glob: str) -> re.Pattern[str]:
    return re.compile(fnmatch.translate(glob.replace("[", "[[]")))


def _one_line(text: str) -> str:
    return " ".join(text.split()).removesuffix(".")


def _release_numbers(release: str) -> tuple[int, ...]:
    """A release as numbers, without the suffix of a development release, or ()."""
    numbers = re.match(r"(\d+)(?:\.(\d+))?(?:\.(\d+))?", release)
    return tuple(int(number or 0) for number in numbers.groups()) if numbers else ()
