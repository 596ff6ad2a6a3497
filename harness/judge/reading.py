"""A proposed fix as people have it, read: a Python file, a unified diff, or a text with code blocks.

Reads only: nothing of a file is ever run here.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Literal

import msgspec

LARGEST = 1 << 20
"""The bytes that a file may have: a proposal is some hundred lines."""

_DIFF = re.compile(r"^(?:diff --git |Index: )|^--- \S.*\n\+\+\+ \S", re.MULTILINE)
_FENCED = re.compile(
    r"^[ \t>]*(?P<fence>```+|~~~+)(?P<info>[^\n`]*)\n(?P<text>.*?)(?:^[ \t>]*(?P=fence)|\Z)", re.M | re.S
)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)


class UnreadableError(ValueError):
    """A file that cannot be read as text; the message names it and says why."""


class FilePart(msgspec.Struct, frozen=True):
    """A part of a file: its text, and the line of the file on which it begins."""

    text: str
    line: int = 1


class Proposal(msgspec.Struct, frozen=True):
    """What a file proposes. `parts` are code for the place of the release's own or, in the form of a diff, the diff.

    `taken` says which part of the file that is, `problem` why there is nothing to put anywhere: a verdict.
    """

    form: Literal["code", "diff"]
    parts: tuple[FilePart, ...] = ()
    taken: str = ""
    problem: str = ""

    @property
    def text(self) -> str:
        """The parts as one text. A diff stays as it is: a blank line at its end may be one of a hunk's."""
        if self.form == "diff":
            return "".join(part.text for part in self.parts)
        return "\n\n".join(part.text.strip("\n") for part in self.parts) + "\n"


def read_text(path: Path) -> str:
    """The text of a file."""
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
    except OSError as error:
        raise UnreadableError(f"{path}: cannot be read: {error.strerror}") from None
    if len(content) > LARGEST:
        raise UnreadableError(f"{path}: larger than {LARGEST >> 10} KiB, which no proposed fix is")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableError(f"{path}: not UTF-8: {error.reason} at byte {error.start}") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_proposal(name: str, text: str, functions: Collection[str]) -> Proposal:
    """What a file proposes, for a release whose cloning functions have these names."""
    suffix = Path(name).suffix.lower()
    whole = (FilePart(text),)
    if suffix in (".diff", ".patch"):
        return Proposal("diff", whole, "the whole file, a diff")
    tree = parsed(text)
    if suffix == ".py" or (tree and any(isinstance(node, _DEFINITIONS) for node in tree.body)):
        return Proposal("code", whole, "the whole file")
    blocks = [
        FilePart(textwrap.dedent(found["text"]), text.count("\n", 0, found.start("text")) + 1)
        for found in _FENCED.finditer(text)
    ]
    if blocks:
        return _of_blocks(blocks, functions)
    if _DIFF.search(text):
        return Proposal("diff", whole, "the whole file, a diff")
    return Proposal("code", problem="no code in it: no code block, no diff, no definition")


def parsed(text: str) -> ast.Module | None:
    """The tree of a text in the syntax of the Python that runs clonediff, None where it is none."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def statement(node: ast.stmt, lines: Sequence[str]) -> FilePart:
    """A statement of a file as it stands there, with its decorators."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(decorator.lineno for decorator in decorators)])
    return FilePart("\n".join(lines[first - 1 : node.end_lineno]) + "\n", first)


def _of_blocks(blocks: Sequence[FilePart], functions: Collection[str]) -> Proposal:
    """Of several blocks that define a function, the last that parses; with it, definitions that it uses."""
    bound = [set(_bound(tree.body)) if (tree := parsed(block.text)) else set() for block in blocks]
    chosen = {
        max(number for number, names in enumerate(bound) if function in names)
        for function in functions
        if any(function in names for names in bound)
    }
    if not chosen:
        diffs = [block for block in blocks if _DIFF.search(block.text)]
        if diffs:
            return Proposal("diff", (diffs[-1],), f"the code block at line {diffs[-1].line}, a diff")
        names = ", ".join(sorted(name for name in functions if "clone" in name))
        return Proposal("code", problem=f"it defines none of the release's cloning functions ({names})")
    used = {
        node.id
        for number in chosen
        for node in ast.walk(ast.parse(blocks[number].text))
        if isinstance(node, ast.Name) and not any(node.id in bound[each] for each in chosen)
    }
    helpers = {
        number
        for number, names in enumerate(bound)
        if names & used and all(isinstance(node, _DEFINITIONS) for node in ast.parse(blocks[number].text).body)
    }
    parts = tuple(blocks[number] for number in sorted(chosen | helpers))
    return Proposal("code", parts, f"the code at line {' and '.join(str(part.line) for part in parts)}")


def _bound(nodes: Sequence[ast.stmt]) -> Iterator[str]:
    """The names that statements at the top of a module bind."""
    for node in nodes:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                yield from (alias.asname or alias.name.partition(".")[0] for alias in aliases)
            case ast.Assign(targets=targets):
                yield from (target.id for target in targets if isinstance(target, ast.Name))
