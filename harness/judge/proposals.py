"""Read a proposed fix: a Python file, a diff, or a text with code blocks.

Its code is not run. A Python file may have a header, as the fixes in `reports/fixes` do: a TOML block `# /// clonediff`
with the definitions that it replaces in each file of Keras, its releases, and the known issues that it fixes.
"""

from __future__ import annotations

import ast
import re
import textwrap
import tomllib
from collections.abc import Collection
from pathlib import Path

import msgspec
from packaging.requirements import Requirement

_DIFF_HEADER = re.compile(r"^--- \S+.*\n\+\+\+ \S+.*\n(?=@@)", re.M)
"""The two lines of a unified diff that name a file."""

IMPORTS = (ast.Import, ast.ImportFrom)

_HEADER = re.compile(r"(?m)^# /// clonediff\n((?:#(?: .*)?\n)*?)# ///\n")
_CODE_BLOCK = re.compile(r"^[ \t>]*(?P<fence>```+|~~~+)[^\n`]*\n(?P<text>.*?)(?:^[ \t>]*(?P=fence)|\Z)", re.M | re.S)


class ProposalError(ValueError):
    """A proposal cannot be applied; the message is its verdict."""


class Proposal(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """New definitions or a diff, and the fields of the header.

    `definitions` names the new functions, methods (`Class.method`) and others of each file of Keras; by default, all
    belong to the file of `clone_model`. `releases` is a range such as "keras>=3.14,<3.17". `fixes` has the ids of the
    known issues that the proposal fixes.
    """

    name: str
    text: str
    is_diff: bool = False
    releases: str = ""
    definitions: dict[str, tuple[str, ...]] = {}
    fixes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        Requirement(self.releases or "keras")  # raises a ValueError

    def is_for(self, generation: str, version: str = "") -> bool:
        """Whether the proposal is for this generation, and version, if any."""
        releases = Requirement(self.releases or generation)
        return releases.name == generation and (not version or releases.specifier.contains(version, prereleases=True))


def read_proposal(name: str, text: str, functions: Collection[str]) -> Proposal:
    """Parse a file; `functions` names the release's cloning functions."""
    suffix = Path(name).suffix.lower()
    if suffix in (".diff", ".patch"):
        return Proposal(name, text, is_diff=True)
    if suffix == ".py":
        proposal, blocks = _read_python(name, text), list[str]()
    else:
        blocks = [textwrap.dedent(block["text"]) for block in _CODE_BLOCK.finditer(text)] or [text]
        # A block may use definitions of another block.
        proposal = Proposal(name, "\n\n".join(block for block in blocks if _defined_names(block, *IMPORTS)))
    if proposal.definitions or _defined_names(proposal.text, ast.Assign) & set(functions):
        return proposal
    if diffs := [block for block in blocks if _DIFF_HEADER.search(block)]:
        return Proposal(name, diffs[-1], is_diff=True)
    if not proposal.text:
        raise ProposalError("no code in it: expected a diff, or a function that replaces a function of Keras")
    names = ", ".join(sorted(function for function in functions if "clone" in function))
    raise ProposalError(f"it defines none of the release's cloning functions ({names}): define one of them")


def bound_names(node: ast.stmt) -> set[str]:
    """The names that a definition, an assignment or an import binds."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, IMPORTS):
        return {alias.asname or alias.name.partition(".")[0] for alias in node.names}
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return {target.id for target in targets if isinstance(target, ast.Name)}


def _read_python(name: str, text: str) -> Proposal:
    if not _statements(text):
        raise ProposalError("no Python code in it: correct its syntax")
    block = _HEADER.search(text)
    try:
        header = tomllib.loads(re.sub(r"(?m)^# ?", "", block[1])) if block else {}
        return msgspec.convert({**header, "name": name, "text": text}, Proposal)
    except (tomllib.TOMLDecodeError, RecursionError, msgspec.ValidationError) as error:
        raise ProposalError(f"its block `# /// clonediff`: {error}") from error


def _statements(text: str) -> list[ast.stmt]:
    """The statements of a text; none if it is not Python."""
    try:
        return ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def _defined_names(text: str, *types: type[ast.stmt]) -> set[str]:
    """The names that functions, classes and `types` bind in a text."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, *types)
    return {name for node in _statements(text) if isinstance(node, kinds) for name in bound_names(node)}
