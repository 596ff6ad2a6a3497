"""A proposed fix as people have it, read: a Python file, a unified diff, or a text with code blocks.

Owns what of a file is the proposal, and what is said of that choice. Reads only: nothing of a file is ever run here.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Literal

import msgspec
from markdown_it import MarkdownIt

LARGEST = 1 << 20
"""The bytes that a file may have: a proposal is some hundred lines."""

Form = Literal["python", "diff", "text", "release"]

_DIFF = re.compile(r"^(?:diff --git |Index: )|^--- \S.*\n\+\+\+ \S", re.MULTILINE)
_FAR_IN = re.compile(r"^[ \t]+(?=```|~~~)", re.MULTILINE)
_DEEPEST = 4
"""How often code that is indented is read for fences that are indented further."""

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

    form: Form
    parts: tuple[FilePart, ...] = ()
    taken: str = ""
    problem: str = ""

    @property
    def text(self) -> str:
        """The parts as one text. A diff stays as it is: a blank line at its end may be one of a hunk's."""
        if self.form == "diff":
            return "".join(part.text for part in self.parts)
        return "\n\n".join(part.text.strip("\n") for part in self.parts) + "\n"


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
    diff = Proposal("diff", (FilePart(text),), "the whole file, a diff")
    if suffix in (".diff", ".patch"):
        return diff
    tree = parsed(text)
    if suffix in (".py", ".pyi") or (tree and any(isinstance(node, _DEFINITIONS) for node in tree.body)):
        return _python(text, functions)
    blocks = fenced(text)
    if blocks:
        return _answer(blocks, functions)
    if _DIFF.search(text):
        return diff
    if any(_def(each).search(text) for each in functions):
        return _python(text, functions)
    return Proposal("text", problem=f"no code in it: no code block, no diff, {_none_of(functions)}")


def parsed(text: str) -> ast.Module | None:
    """The tree of a text in the syntax of the Python that runs clonediff, None where it is none."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def statement(node: ast.stmt, lines: Sequence[str]) -> FilePart:
    """A statement of a file as it stands there, with its decorators."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(each.lineno for each in decorators)])
    return FilePart("\n".join(lines[first - 1 : node.end_lineno]) + "\n", first)


def fenced(text: str) -> list[Block]:
    """The fenced blocks of a text, without indentation. A fence may have no end.

    Where there is none, a fence may be too far in for Markdown, right under a sentence.
    """
    return list(_fenced(text)) or list(_fenced(_FAR_IN.sub("", text)))


def _fenced(text: str, first: int = 1, depth: int = 0) -> Iterator[Block]:
    """The fenced blocks that Markdown sees in a text that begins on line `first`."""
    lines = text.split("\n")
    for token in MarkdownIt().disable("html_block").parse(text):
        start, after = token.map or (0, 0)
        if token.type == "fence":
            last = lines[after - 1].strip(" \t>")
            closed = after - start > 1 and last.startswith(token.markup) and not last.strip(token.markup[0])
            yield Block(textwrap.dedent(token.content), first + start + 1, token.info.strip(), closed)
        elif token.type == "code_block" and depth < _DEEPEST:  # to Markdown, what is indented by four columns is code
            yield from _fenced(textwrap.dedent(token.content), first + start, depth + 1)


def _python(text: str, functions: Collection[str]) -> Proposal:
    its = _defined(text, functions)
    # A file may also bind them in ways that no tree shows at its top; then running it is what tells.
    if not its and parsed(text) and not any(re.search(rf"\b{re.escape(each)}\b", text) for each in functions):
        return Proposal("python", problem=_without(text, functions))
    return Proposal("python", (FilePart(text),), "the whole file" + (f", with {_listed(its)}" if its else ""))


def _answer(blocks: Sequence[Block], functions: Collection[str]) -> Proposal:
    """Of several blocks that define a function, the last complete one; with it, definitions that it uses."""
    chosen: dict[int, list[str]] = {}
    for function in sorted(functions):
        having = [number for number, block in enumerate(blocks) if function in _defined(block.text, functions)]
        whole = [number for number in having if blocks[number].closed and parsed(blocks[number].text) is not None]
        if having:
            chosen.setdefault((whole or having)[-1], []).append(function)
    of = f" (of {len(blocks)} blocks)" if len(blocks) > 1 else ""
    if not chosen:
        diffs = [block for block in blocks if block.info.split(" ")[0] in ("diff", "patch") or _DIFF.search(block.text)]
        if diffs:
            last = diffs[-1]
            return Proposal("diff", (FilePart(last.text),), f"the code block at line {last.line}, a diff{of}")
        return Proposal("text", problem=_without("\n".join(block.text for block in blocks), functions))
    helpers = _used_by(chosen, blocks)
    taken = [f"the code block at line {blocks[number].line}, with {_listed(its)}" for number, its in chosen.items()]
    taken += [f"the one at line {blocks[number].line}, which that uses" for number in helpers]
    parts = tuple(FilePart(blocks[number].text, blocks[number].line) for number in sorted({*chosen, *helpers}))
    return Proposal("text", parts, "; ".join(taken) + of)


def _used_by(chosen: Collection[int], blocks: Sequence[Block]) -> list[int]:
    """Blocks of nothing but definitions and imports, of which the chosen ones use a name that they do not bind."""
    trees = [parsed(block.text) for block in blocks]
    its = [tree for number in chosen if (tree := trees[number])]
    wanted = {node.id for tree in its for node in ast.walk(tree) if isinstance(node, ast.Name)}
    wanted -= {name for tree in its for name in _bound(tree.body)}
    return [
        number
        for number, tree in enumerate(trees)
        if number not in chosen
        and tree is not None
        and all(isinstance(node, _DEFINITIONS) for node in tree.body)
        and not wanted.isdisjoint(_bound(tree.body))
    ]


def _defined(text: str, names: Collection[str]) -> list[str]:
    """Which of these functions a text defines at its top; of one that does not parse, which it seems to."""
    tree = parsed(text)
    if tree is None:
        return [name for name in sorted(names) if _def(name).search(text)]
    return sorted({*names}.intersection(_bound(tree.body)))


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
            case ast.If() | ast.Try() | ast.With():
                yield from _bound([inner for inner in ast.iter_child_nodes(node) if isinstance(inner, ast.stmt)])


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
