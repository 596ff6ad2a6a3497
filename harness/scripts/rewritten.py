"""A script taken apart, and its statements written otherwise: with other names, and with the assertions of a test.

Owns what stands where in a script's text. It knows no style of test: `as_test` says what is put in the place of what.
"""

from __future__ import annotations

import ast
import builtins
import io
import textwrap
import tokenize
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, TypeGuard

Import = ast.Import | ast.ImportFrom
Definition = ast.FunctionDef | ast.ClassDef


class Edit(NamedTuple):
    """A text that takes the place of some bytes of a script."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Imported:
    """A name that a script imports, and the line that does so."""

    name: str
    line: str


class ScriptSource:
    """A script's text, with its syntax. Places in it are bytes, as `ast` counts them."""

    def __init__(self, text: str) -> None:
        """Read it."""
        self.text = text
        self.tree = ast.parse(text)
        self._bytes = text.encode()
        self._lines = [0]
        for line in self._bytes.splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line))

    @property
    def imports(self) -> list[Imported]:
        """All that it imports, wherever that stands at its top level, but for those that stay where they are."""
        return [one for node in self.tree.body if self.is_movable(node) for one in _imported(node)]

    def is_movable(self, node: ast.stmt) -> TypeGuard[Import]:
        """Whether it is an import that may stand above all else: one below a line that sets the path needs that."""
        before = [one for one, other in pairwise(self.tree.body) if other is node]
        return isinstance(node, Import) and not any(map(_sets_path, before))

    def span(self, node: ast.stmt | ast.expr) -> tuple[int, int]:
        """Where a node begins and ends, with its decorators."""
        decorators = node.decorator_list if isinstance(node, Definition) else []
        line, column = min([(node.lineno, node.col_offset), *((each.lineno, 0) for each in decorators)])
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self._at(line, column), self._at(node.end_lineno, node.end_col_offset)

    def written(self, node: ast.stmt | ast.expr, edits: Sequence[Edit] = ()) -> str:
        """The text of a node, with the edits that are within it."""
        return self._edited(*self.span(node), edits)

    def whole(self, node: ast.stmt, edits: Sequence[Edit] = ()) -> str:
        """The text of a statement, with the comments above it and behind it, after a blank line if it has one."""
        start, end = self.span(node)
        above = self._bytes[:start].decode().split("\n")[:-1]
        comments: list[str] = []
        while above and above[-1].startswith("#"):
            comments.insert(0, above.pop())
        blank = "\n" if above and not above[-1].strip() else ""
        behind = self._bytes[end:].split(b"\n", 1)[0].decode()
        return blank + "".join(f"{each}\n" for each in comments) + self._edited(start, end, edits) + behind.rstrip()

    def _at(self, line: int, column: int) -> int:
        return self._lines[line - 1] + column

    def _edited(self, start: int, end: int, edits: Sequence[Edit]) -> str:
        found, at = b"", start
        for each in sorted(edits):
            if start <= each.start and each.end <= end and each.start >= at:
                found += self._bytes[at : each.start] + each.text.encode()
                at = each.end
        return (found + self._bytes[at:end]).decode()


def _sets_path(node: ast.stmt) -> bool:
    call = node.value if isinstance(node, ast.Expr) else None
    return isinstance(call, ast.Call) and dotted(call.func) == ["sys", "path", "insert"]


def _imported(node: Import) -> Iterator[Imported]:
    for each in node.names:
        name = each.asname or each.name.partition(".")[0]
        behind = f"{each.name} as {each.asname}" if each.asname else each.name
        module = f"from {node.module} " if isinstance(node, ast.ImportFrom) else ""
        yield Imported(name, f"{module}import {behind}")


def bound(tree: ast.AST) -> list[str]:
    """The names that a script gives to something, in whatever scope, each as often as it does; not its imports."""
    names = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)]
    names += [node.name for node in ast.walk(tree) if isinstance(node, Definition)]
    return names + [node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)]


def used(tree: ast.AST) -> set[str]:
    """The names that are looked up in it."""
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def standing_alone(source: ScriptSource) -> list[Definition]:
    """The definitions that can stand at the top of a module: they need nothing but imports and one another."""
    there = {each.name for each in source.imports} | set(dir(builtins))
    names = bound(source.tree)
    left = [node for node in source.tree.body if isinstance(node, Definition) and names.count(node.name) == 1]
    while True:
        fit = [node for node in left if used(node) <= there | set(bound(node)) | {each.name for each in left}]
        if fit == left:
            return fit
        left = fit


def dotted(node: ast.expr) -> list[str] | None:
    """The parts of a name with dots, `keras.models.clone_model`; None of any other expression."""
    if isinstance(node, ast.Name):
        return [node.id]
    if isinstance(node, ast.Attribute):
        parts = dotted(node.value)
        return [*parts, node.attr] if parts is not None else None
    return None


def renamed(source: ScriptSource, spelled: Callable[[list[str]], str]) -> list[Edit]:
    """The edits that spell each name with dots as the function says."""
    edits: list[Edit] = []

    class Names(ast.NodeVisitor):
        def visit_Attribute(self, node: ast.Attribute) -> None:
            parts = dotted(node)
            if parts is None:
                self.generic_visit(node)
                return
            text = spelled(parts)
            if text != ".".join(parts):
                edits.append(Edit(*source.span(node), text))

        def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
            """Python 3.11 does not say where what is in one stands."""

    Names().visit(source.tree)
    return edits


def indented(text: str, by: int) -> str:
    """Text that stands `by` columns further in; strings of several lines stay as they are."""
    within = _lines_within_strings(text)
    lines = text.removesuffix("\n").split("\n")  # Python breaks lines there, and nowhere else
    shifted = [" " * by + line if line and number not in within else line for number, line in enumerate(lines, 1)]
    return "\n".join(shifted)


def _lines_within_strings(text: str) -> set[int]:
    begins = getattr(tokenize, "FSTRING_START", None)
    ends = getattr(tokenize, "FSTRING_END", None)
    found: set[int] = set()
    open_: list[int] = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.STRING:
            found.update(range(token.start[0] + 1, token.end[0] + 1))
        elif begins is not None and token.type == begins:
            open_.append(token.start[0])
        elif ends is not None and token.type == ends:
            found.update(range(open_.pop() + 1, token.end[0] + 1))
    return found


def with_short_comments(text: str, width: int) -> str:
    """Text whose comments, where they have a line of their own, are no wider than that."""
    comments = {
        token.start[0]
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type == tokenize.COMMENT and not token.line[: token.start[1]].strip()
    }
    found: list[str] = []
    for number, line in enumerate(text.removesuffix("\n").split("\n"), 1):
        if number not in comments or len(line) <= width:
            found.append(line)
            continue
        head = line[: len(line) - len(line.lstrip())] + "# "
        words = line.strip().removeprefix("#").strip()
        found += textwrap.wrap(
            words, width, initial_indent=head, subsequent_indent=head, break_long_words=False, break_on_hyphens=False
        )
    return "\n".join(found) + "\n"
