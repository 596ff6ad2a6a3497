"""A proposal put into the files of a private copy of a release, and what that changes as a diff.

A definition takes the place of the one with its name. The release's decorators stay, and its docstring where the new
definition has none. A function of `...` only adds its decorators to the release's. What is new goes before the next
definition of the proposal that the file has, or after the last. A diff is applied with `git apply`; a path that leaves
the copy is refused.
"""

from __future__ import annotations

import ast
import difflib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

from clonediff.harness.judge.proposals import FILES, Proposal, ProposalError, bound

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
Definition: TypeAlias = Function | ast.ClassDef

_OF_GIT = re.compile(r"^(?:diff --git|index|(?:new|deleted) file mode|(?:old|new) mode|similarity index) .*\n", re.M)
_NOWHERE = "/dev/null"
_CONTEXT = 3
"""The lines that a hunk usually has after what it changes."""


class PrivateCopy:
    """A copy of the package of a release in a folder, where proposals are put in place, one after the other."""

    def __init__(self, package: Path, folder: Path) -> None:
        """Copy it, with its bytecode, which takes a process seconds to make."""
        self.release, self.folder, self._name = package.parent, folder.resolve(), package.name
        shutil.copytree(package, self.folder / self._name)
        names = (f"{self._name}/{path}" for path in ("src/models/cloning.py", "models/cloning.py"))
        self._cloning = next((name for name in names if (self.folder / name).is_file()), "")

    def cloning_functions(self) -> set[str]:
        """The names of the functions in the file of `clone_model`."""
        tree = ast.parse((self.folder / self._cloning).read_text("utf-8"))
        return {node.name for node in tree.body if isinstance(node, Function)}

    def put(self, proposal: Proposal) -> None:
        """Put a proposal in place, all of it or nothing."""
        if proposal.is_diff:
            _apply(proposal.text, self.folder / self._name)
        for path, text in [] if proposal.is_diff else list(self._texts(proposal)):
            path.unlink(missing_ok=True)  # or it may lead to a file elsewhere
            path.write_text(text, encoding="utf-8")
            for compiled in path.parent.glob(f"__pycache__/{path.stem}.*"):
                compiled.unlink()  # it would be taken for that of a text that is written in the same second

    def changed(self) -> list[str]:
        """The files that are not as in the release."""
        roots = (self.release, self.folder)
        names = {str(file.relative_to(root)) for root in roots for file in (root / self._name).rglob("*.py")}
        return [name for name in sorted(names) if _lines(self.release / name) != _lines(self.folder / name)]

    def diff(self) -> str:
        """What all proposals change, as one unified diff."""
        lines: list[str] = []
        for name in self.changed():
            old, new = _lines(self.release / name), _lines(self.folder / name)
            names = (f"a/{name}" if old else _NOWHERE, f"b/{name}" if new else _NOWHERE)
            lines += difflib.unified_diff(old, new, *names)
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)

    def _texts(self, proposal: Proposal) -> Iterator[tuple[Path, str]]:
        """The files that a proposal changes, with their new text."""
        try:
            tree = ast.parse(proposal.text)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise ProposalError(f"not Python: {error}") from error
        header = proposal.header
        if header is None and not all(isinstance(node, Definition | ast.Import | ast.ImportFrom) for node in tree.body):
            # It does more than define: as if it was typed at the end of the file.
            path = self.folder / self._cloning
            yield path, f"{path.read_text('utf-8')}\n\n{proposal.text}"
            return
        places = header.places if header is not None else {self._cloning: None}
        wanted_names = {name for names in places.values() for name in names or ()}
        for node in tree.body if header is not None else ():
            if isinstance(node, Definition | ast.Assign) and not _names(node) & wanted_names:
                raise ProposalError(f"its block `# /// clonediff` has no place for {min(bound(node))}")
        replaced: set[str] = set()
        for name, wanted in places.items():
            path = self.folder / name
            if ".." in path.parts or not path.parent.is_dir():
                raise ProposalError(f"{name}: the release has no such folder")
            old = path.read_text("utf-8") if path.is_file() else ""
            others = {
                other: f"from {_module(place)} import {other}"
                for place, names in places.items()
                if place != name
                for other in names or ()
            }
            file = _File(old, tree, proposal.text, wanted, _module(name), others)
            yield path, file.text()
            replaced |= file.replaced
        if not replaced:
            raise ProposalError("it replaces none of the release's functions")


def _lines(file: Path) -> list[str]:
    return file.read_text("utf-8").splitlines(keepends=True) if file.is_file() else []


class _File:
    """A file of a release, and what is to be put into it."""

    def __init__(
        self,
        old: str,
        tree: ast.Module,
        source: str,
        wanted: Collection[str] | None,
        module: str,
        others: Mapping[str, str],
    ) -> None:
        """`wanted` names what of the tree is for this file, `None` stands for all of it.

        `module` is the file's, and `others` has the imports of what of the tree is for other files.
        """
        self.replaced: set[str] = set()
        self._lines, self._source = old.splitlines(), source.splitlines()
        self._tree = ast.parse(old)
        self._edits: dict[int, list[str]] = {}  # what goes before a line
        self._gone: set[int] = set()
        known = {name for node in tree.body for name in _names(node)}
        if missing := set(wanted or ()) - known:
            raise ProposalError(f"its block `# /// clonediff` names {min(missing)}, which it does not define")
        chosen = [node for node in tree.body if wanted is None or _names(node) & set(wanted)]
        imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
        docstring = ast.get_docstring(tree) is not None
        chosen = [node for node in chosen[docstring and wanted is None :] if node not in imports]
        used = {name.id for node in chosen for name in ast.walk(node) if isinstance(name, ast.Name)}
        used -= {name for node in (*self._tree.body, *chosen) for name in bound(node)}
        lines = {**{name: ast.unparse(node) for node in imports for name in bound(node)}, **others}
        self._import({lines[name] for name in used & lines.keys() if f"from {module} " not in lines[name]})
        self._put(chosen, self._tree.body, wanted, len(self._lines) + 1)

    def text(self) -> str:
        """The file with all that was put into it."""
        lines: list[str] = []
        for number in range(1, len(self._lines) + 2):
            lines += self._edits.get(number, ())
            if number <= len(self._lines) and number not in self._gone:
                lines.append(self._lines[number - 1])
        return "\n".join((*lines, ""))

    def _put(
        self, new: list[ast.stmt], old: list[ast.stmt], wanted: Collection[str] | None, end: int, of: str = ""
    ) -> None:
        """Put statements among those of the file, or of a class of it."""
        theirs = {name: node for node in reversed(old) for name in bound(node)}
        newest = {name: node for node in new for name in bound(node)}
        waiting: list[ast.stmt] = []
        after = end
        blank = [""] * (1 if of else 2)
        for node in new:
            name = next(iter(bound(node)), "")
            if name and newest[name] is not node:
                continue  # it is defined again further down
            if wanted is not None and of and f"{of}.{name}" not in wanted and of not in wanted:
                continue
            before = theirs.get(name)
            if before is None:
                waiting.append(node)
                continue
            for piece in waiting:
                self._before(_start(before), [*self._of(piece), *blank])
            waiting, after = [], (before.end_lineno or 0) + 1
            if isinstance(node, ast.ClassDef) and isinstance(before, ast.ClassDef):
                self._put(node.body, before.body, wanted, after, name)
            else:
                self._replace(node, before)
            self.replaced.add(f"{of}.{name}" if of else name)
        for piece in waiting:
            self._before(after, [*blank, *self._of(piece)])
            if of:
                self.replaced.add(of)

    def _replace(self, new: ast.stmt, old: ast.stmt) -> None:
        """Put a definition in the place of another one."""
        if not isinstance(new, Definition) or not isinstance(old, Definition):
            self._gone |= set(range(old.lineno, (old.end_lineno or 0) + 1))
            self._before(old.lineno, self._of(new))
            return
        theirs = {ast.unparse(decorator) for decorator in old.decorator_list}
        for decorator in new.decorator_list:
            if ast.unparse(decorator) not in theirs:
                lines = self._source[decorator.lineno - 1 : decorator.end_lineno]
                self._before(old.lineno, lines)
        if _is_ellipsis(new):
            return
        self._gone |= set(range(old.lineno, (old.end_lineno or 0) + 1))
        body = new.body[0].lineno
        self._before(old.lineno, self._source[new.lineno - 1 : body - 1])
        if ast.get_docstring(new) is None and ast.get_docstring(old) is not None:
            self._before(old.lineno, self._lines[old.body[0].lineno - 1 : old.body[0].end_lineno])
        self._before(old.lineno, self._source[body - 1 : new.end_lineno])

    def _import(self, lines: Collection[str]) -> None:
        """Import what is used and not there, where the order of Keras' imports has it."""
        theirs = [node for node in self._tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
        for order, line in sorted((_order(ast.parse(line).body[0]), line) for line in lines):
            lower = [node for node in theirs if _order(node) < order]
            near = next((node for node in theirs if _order(node) > order), None)
            if near is not None and (_order(near)[0] == order[0] or not lower):
                gap = [] if _order(near)[0] == order[0] else [""]
                self._before(near.lineno, [line, *gap])
            else:
                gap = [] if lower and _order(lower[-1])[0] == order[0] else [""]
                self._before((lower[-1].end_lineno or 0) + 1 if lower else 1, [*gap, line])

    def _of(self, node: ast.stmt) -> list[str]:
        return self._source[_start(node) - 1 : node.end_lineno]

    def _before(self, line: int, lines: list[str]) -> None:
        self._edits.setdefault(line, []).extend(lines)


def _names(node: ast.stmt) -> set[str]:
    """The names by which a header may mean a statement: what it binds, and a class by its methods."""
    methods = node.body if isinstance(node, ast.ClassDef) else ()
    return bound(node) | {f"{node.name}.{name}" for method in methods for name in bound(method)}  # type: ignore[attr-defined]


def _start(node: ast.stmt) -> int:
    """The first line of a statement, that of a decorator if it has one."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _is_ellipsis(node: Definition) -> bool:
    """Whether the body of a definition is `...`."""
    (first, *more) = node.body
    return (
        not more and isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and first.value.value is ...
    )


def _module(path: str) -> str:
    """The name of the module in a file."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _order(node: ast.stmt) -> tuple[int, bool, str]:
    """What Keras sorts its imports by."""
    assert isinstance(node, ast.Import | ast.ImportFrom)
    module = (node.module or "") if isinstance(node, ast.ImportFrom) else node.names[0].name
    package = module.partition(".")[0]
    group = 0 if package in sys.stdlib_module_names else 2 if package in ("keras", "tf_keras") else 1
    return group, isinstance(node, ast.ImportFrom), f"{module} {node.names[0].name}"


def _apply(diff: str, package: Path) -> None:
    """Apply a diff to a package, all of it or nothing, but for tests and docs."""
    if shutil.which("git") is None:
        raise ProposalError("git is not on PATH: install it, or give the changed functions in a Python file")
    if not FILES.search(diff):
        raise ProposalError("no diff in it: no line `--- FILE` with a line `+++ FILE` after it")
    text = FILES.sub(lambda header: _rooted(header, package), _OF_GIT.sub("", diff))
    private = package.parent
    # Whitespace at the end of a line is lost where people copy a diff from.
    command = ["git", "apply", "--apply", "--numstat", "--whitespace=fix", "--unidiff-zero"]
    command += ["--exclude=*_test.py", f"--include={package.name}/*"]
    # Within somebody's repository, git would leave out what is not in its index, without an error.
    variables = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    variables |= {"GIT_CEILING_DIRECTORIES": str(private.parent), "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}
    # Blank lines at the end of a text are often lost. git takes these for those that a hunk lacks, or ignores them.
    lines = f"{text}\n" + "\n" * _CONTEXT
    done = subprocess.run(
        command, cwd=private, env={**variables, "HOME": str(private)}, input=lines.encode(), capture_output=True
    )  # fmt: skip
    if done.returncode:
        errors = done.stderr.decode(errors="replace")
        places = re.findall(r"^error: patch failed: (.*)", errors, re.MULTILINE)
        if places:
            raise ProposalError(f"{' and '.join(places)}: the release has other lines there; make the diff against it")
        reasons = re.findall(r"^(?:error|fatal): (.*)", errors, re.MULTILINE)
        raise ProposalError("; ".join(reasons[:4]) or f"`git apply` ended with exit code {done.returncode}")
    if not done.stdout.strip():
        raise ProposalError("it changes no line of the release")


def _rooted(header: re.Match[str], package: Path) -> str:
    """The names of a file with the package as their first folder; those of no file of the package stay."""
    old, new = (_in_package(header[name], package) for name in ("old", "new"))
    return f"--- {old}\n+++ {new}\n"


def _in_package(path: str, package: Path) -> str:
    parts = path.split("/")
    starts = [place for place, part in enumerate(parts) if part == package.name]
    names = ["/".join(parts[start:]) for start in starts]
    name = next((name for name in names if (package.parent / name).exists()), names[0] if names else "")
    return path if path == _NOWHERE or not name else f"a/{name}"
