"""A proposed fix as people have it: a Python file, a unified diff, or a text with code blocks. Nothing of it is run.

A Python file may begin with a block `# /// clonediff` of TOML, as the fixes in `reports/fixes` do: which functions
and methods are for which file of Keras, on which releases, and which known issues it mends.
"""

from __future__ import annotations

import ast
import re
import textwrap
import tomllib
from collections.abc import Collection
from pathlib import Path

import msgspec
from packaging.version import Version

FILES = re.compile(r"^--- (?P<old>\S+).*\n\+\+\+ (?P<new>\S+).*\n(?=@@)", re.MULTILINE)
"""The two lines of a unified diff that name a file."""

_HEADER = re.compile(r"(?m)^# /// clonediff\n((?:#(?: .*)?\n)*?)# ///\n")
_FENCED = re.compile(
    r"^[ \t>]*(?P<fence>```+|~~~+)(?P<info>[^\n`]*)\n(?P<text>.*?)(?:^[ \t>]*(?P=fence)|\Z)", re.M | re.S
)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)


class ProposalError(ValueError):
    """A proposal that cannot be put in place; the message says why. That is a verdict on it."""


class Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a fix says of itself.

    `places` has the names of functions, methods (`Class.method`) and other definitions by the file of Keras that they
    are for. `mends` has the ids of known issues. The fix is for the releases from `since` on, and before `until`.
    """

    generation: str
    root: str
    places: dict[str, tuple[str, ...]]
    mends: tuple[str, ...] = ()
    since: str | None = None
    until: str | None = None


class Proposal(msgspec.Struct, frozen=True):
    """Code for the place of the release's own functions, or a diff. `part` says which part of the file it is."""

    name: str
    text: str
    part: str
    is_diff: bool = False
    header: Header | None = None

    @property
    def mends(self) -> tuple[str, ...]:
        """The ids of the known issues that it is for, as far as it says so."""
        return self.header.mends if self.header is not None else ()

    def is_not_for(self, generation: str, release: str | None = None) -> str:
        """Why a fix is not for a release of Keras; "" where it is, or does not say."""
        header = self.header
        if header is None or (header.generation, header.since, header.until) == (generation, None, None):
            return ""
        if header.generation != generation:
            return f"it is for {header.generation}"
        at = None if release is None else Version(release).release
        early = at is not None and header.since is not None and at < Version(header.since).release
        late = at is not None and header.until is not None and at >= Version(header.until).release
        return f"it is for releases from {header.since} on, before {header.until}" if early or late else ""


def read_proposal(name: str, text: str, functions: Collection[str]) -> Proposal:
    """What a file proposes, for a release whose cloning functions have these names."""
    suffix = Path(name).suffix.lower()
    if suffix in (".diff", ".patch"):
        return Proposal(name, text, "the whole file, a diff", is_diff=True)
    tree = _parsed(text)
    if suffix == ".py" or (tree and any(isinstance(node, _DEFINITIONS) for node in tree.body)):
        return Proposal(name, text, "the whole file", header=_header(text))
    blocks = list(_FENCED.finditer(text))
    code = [block for block in blocks if _defines(block, functions)]
    if any(_names(block) & set(functions) for block in code):
        numbers = [_line(block) for block in code]
        # Each block stays at its line of the file.
        lines = [""] * text.count("\n")
        for block, number in zip(code, numbers, strict=True):
            lines[number - 1 : number - 1 + block["text"].count("\n")] = _code(block).splitlines()
        return Proposal(name, "\n".join((*lines, "")), f"the code at line {' and '.join(map(str, numbers))}")
    diffs = [block for block in blocks if FILES.search(_code(block))]
    if diffs:
        return Proposal(name, _code(diffs[-1]), f"the code block at line {_line(diffs[-1])}, a diff", is_diff=True)
    if not blocks and FILES.search(text):
        return Proposal(name, text, "the whole file, a diff", is_diff=True)
    if not blocks:
        raise ProposalError("no code in it: no code block, no diff, no definition")
    clone = ", ".join(sorted(function for function in functions if "clone" in function))
    raise ProposalError(f"it defines none of the release's cloning functions ({clone})")


def _header(text: str) -> Header | None:
    """What the block of a file says; None where it has none."""
    blocks = _HEADER.findall(text)
    if not blocks:
        return None
    try:
        return msgspec.convert(tomllib.loads(re.sub(r"(?m)^# ?", "", blocks[0])), Header)
    except (tomllib.TOMLDecodeError, RecursionError, msgspec.ValidationError) as error:
        raise ProposalError(f"its block `# /// clonediff`: {error}") from error


def _parsed(text: str) -> ast.Module | None:
    """The tree of a text, None where it is no Python."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _code(block: re.Match[str]) -> str:
    return textwrap.dedent(block["text"])


def _line(block: re.Match[str]) -> int:
    return block.string.count("\n", 0, block.start("text")) + 1


def _names(block: re.Match[str]) -> set[str]:
    """The names that the statements of a block bind."""
    tree = _parsed(_code(block))
    return {name for node in (tree.body if tree is not None else ()) for name in bound(node)}


def bound(node: ast.stmt) -> set[str]:
    """The names that a statement binds."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {alias.asname or alias.name.partition(".")[0] for alias in node.names}
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return {target.id for target in targets if isinstance(target, ast.Name)}


def _defines(block: re.Match[str], functions: Collection[str]) -> bool:
    """Whether a block defines one of the functions, or has only definitions, which another may use."""
    tree = _parsed(_code(block))
    if tree is None or not tree.body:
        return False
    return bool(_names(block) & set(functions)) or all(isinstance(node, _DEFINITIONS) for node in tree.body)
