"""A proposed fix as people have it, read: a Python file, a unified diff, or a text with code blocks.

Owns what of a file is the proposal, and what is said of that choice. Reads only: nothing of a file is ever run here.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

LARGEST = 1 << 20
"""The bytes that a file may have: a proposal is some hundred lines."""

Form = Literal["python", "diff", "text", "release"]

_FENCE = re.compile(r"^(?P<indent>[ \t>]*)(?P<marks>`{3,}|~{3,})[ \t]*(?P<info>[^`\n]*)$")
_DIFF = re.compile(r"^(?:diff --git |Index: )|^--- \S.*\n\+\+\+ \S", re.MULTILINE)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)


class UnreadableError(ValueError):
    """A file that cannot be read as text; the message names it and says why."""


class FilePart(msgspec.Struct, frozen=True):
    """A part of a file: its text, and the line of the file on which it begins."""

    text: str
    line: int = 1

    def request(self) -> dict[str, Any]:
        """As `clonediff.harness.inside.candidates` takes it."""
        return {"text": self.text, "line": self.line}


class Proposal(msgspec.Struct, frozen=True):
    """What a file proposes. `pieces` are code for the place of the release's own, `diff` a change to its files.

    `taken` says which part of the file that is, `problem` why there is nothing to put anywhere: a verdict.
    """

    name: str
    form: Form
    text: str
    pieces: tuple[FilePart, ...] = ()
    diff: str = ""
    taken: str = ""
    problem: str = ""


class Block(msgspec.Struct, frozen=True):
    """A fenced block of a text. `closed` is whether its fence ends, `info` what its first fence says."""

    text: str
    line: int
    info: str = ""
    closed: bool = True


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
    if suffix in (".diff", ".patch"):
        return Proposal(name, "diff", text, diff=text, taken="the whole file, a diff")
    if suffix in (".py", ".pyi") or (
        (tree := parsed(text)) is not None and any(isinstance(node, _DEFINITIONS) for node in tree.body)
    ):
        return _python(name, text, functions)
    blocks = list(fenced(text))
    if blocks:
        return _answer(name, text, blocks, functions)
    if _DIFF.search(text):
        return Proposal(name, "diff", text, diff=text, taken="the whole file, a diff")
    if any(_def(each).search(text) for each in functions):
        return _python(name, text, functions)
    return Proposal(name, "text", text, problem=f"no code in it: no code block, no diff, {_none_of(functions)}")


def parsed(text: str) -> ast.Module | None:
    """The tree of a text in the syntax of the Python that runs clonediff, None where it is none."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def first_line(node: ast.stmt) -> int:
    """The line that a statement begins on, with what decorates it."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(each.lineno for each in decorators)])


def defined(text: str, names: Collection[str]) -> tuple[str, ...]:
    """Which of these functions a text defines at its top; of one that does not parse, which it seems to."""
    tree = parsed(text)
    if tree is None:
        return tuple(name for name in sorted(names) if _def(name).search(text))
    bound = {name for node in tree.body for name in _bound(node)}
    return tuple(name for name in sorted(names) if name in bound)


def fenced(text: str) -> Iterator[Block]:
    """The fenced blocks of a text, each without the indentation of its fence. A fence that never ends ends with it."""
    lines = text.split("\n")
    opened: tuple[int, str, str, str] | None = None
    for number, line in enumerate(lines):
        match = _FENCE.match(line)
        if match is None:
            continue
        if opened is None:
            opened = number, match["indent"], match["marks"], match["info"].strip()
            continue
        start, indent, marks, info = opened
        if match["marks"].startswith(marks) and not match["info"].strip():
            yield Block(_dedented(lines[start + 1 : number], indent), start + 2, info)
            opened = None
    if opened is not None:
        start, indent, _, info = opened
        yield Block(_dedented(lines[start + 1 :], indent), start + 2, info, closed=False)


def _dedented(lines: Sequence[str], indent: str) -> str:
    cut = [line.removeprefix(indent) for line in lines]
    return textwrap.dedent("\n".join(cut)) + "\n"


def _python(name: str, text: str, functions: Collection[str]) -> Proposal:
    its = defined(text, functions)
    if not its and parsed(text) is not None:
        # A file may also bind them in ways that no tree shows at its top; then running it is what tells.
        if not any(re.search(rf"\b{re.escape(each)}\b", text) for each in functions):
            return Proposal(name, "python", text, problem=_without(text, functions))
        return Proposal(name, "python", text, (FilePart(text),), taken="the whole file")
    return Proposal(name, "python", text, (FilePart(text),), taken=f"the whole file, with {_listed(its)}")


def _answer(name: str, text: str, blocks: Sequence[Block], functions: Collection[str]) -> Proposal:
    """Of several blocks that define a function, the last complete one; with it, definitions that it uses."""
    chosen: dict[int, list[str]] = {}
    for function in sorted(functions):
        having = [number for number, block in enumerate(blocks) if function in defined(block.text, functions)]
        whole = [number for number in having if blocks[number].closed and parsed(blocks[number].text) is not None]
        if having:
            chosen.setdefault((whole or having)[-1], []).append(function)
    if not chosen:
        diffs = [block for block in blocks if block.info.split(" ")[0] in ("diff", "patch") or _DIFF.search(block.text)]
        if diffs:
            said = f"the code block at line {diffs[-1].line}, a diff" + _of(blocks)
            return Proposal(name, "diff", text, diff=diffs[-1].text, taken=said)
        code = "\n".join(block.text for block in blocks)
        return Proposal(name, "text", text, problem=_without(code, functions))
    helpers = _used_by(chosen, blocks)
    taken = [f"the code block at line {blocks[number].line}, with {_listed(its)}" for number, its in chosen.items()]
    taken += [f"the one at line {blocks[number].line}, which that uses" for number in helpers]
    pieces = tuple(FilePart(blocks[number].text, blocks[number].line) for number in sorted({*chosen, *helpers}))
    return Proposal(name, "text", text, pieces, taken="; ".join(taken) + _of(blocks))


def _used_by(chosen: Collection[int], blocks: Sequence[Block]) -> list[int]:
    """Blocks of nothing but definitions and imports, of which the chosen ones use a name that they do not bind."""
    wanted: set[str] = set()
    bound: set[str] = set()
    for number in chosen:
        tree = parsed(blocks[number].text)
        if tree is not None:
            wanted |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
            bound |= {name for node in tree.body for name in _bound(node)}
    found = []
    for number, block in enumerate(blocks):
        tree = parsed(block.text)
        if number in chosen or tree is None or not all(isinstance(node, _DEFINITIONS) for node in tree.body):
            continue
        if {name for node in tree.body for name in _bound(node)} & (wanted - bound):
            found.append(number)
    return found


def _bound(node: ast.stmt) -> Iterator[str]:
    """The names that a statement at the top of a module binds."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        for alias in node.names:
            yield alias.asname or alias.name.partition(".")[0]
    elif isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Name):
                yield target.id
    elif isinstance(node, (ast.If, ast.Try, ast.With)):
        for inner in ast.iter_child_nodes(node):
            if isinstance(inner, ast.stmt):
                yield from _bound(inner)


def _without(code: str, functions: Collection[str]) -> str:
    found = re.findall(r"^\s*(?:async\s+)?def\s+(\w+)", code, re.MULTILINE)
    others = f"; it defines {_listed(list(dict.fromkeys(found))[:6])}" if found else ""
    return f"{_none_of(functions)}{others}"


def _none_of(functions: Collection[str]) -> str:
    names = sorted(name for name in functions if "clone" in name) or sorted(functions)
    return f"it defines none of the release's cloning functions ({', '.join(names)})"


def _def(name: str) -> re.Pattern[str]:
    return re.compile(rf"^[ \t]*(?:def[ \t]+{re.escape(name)}[ \t]*\(|{re.escape(name)}[ \t]*=)", re.MULTILINE)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _of(blocks: Sequence[Block]) -> str:
    return f" (of {len(blocks)} blocks)" if len(blocks) > 1 else ""
