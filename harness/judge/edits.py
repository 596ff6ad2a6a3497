"""A proposal put into the files of a private copy of a release, and what that changes as a diff.

A definition takes the place of the one with its name. The release's decorators stay, and its docstring where the new
definition has none. A function of `...` only adds its decorators. What is new goes before the next definition of the
proposal that the file has, or after the last. A diff is applied with `git apply`.
"""

from __future__ import annotations

import ast
import difflib
import os
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from shutil import copytree

from clonediff.harness.judge.proposals import DIFF, HEADER, Proposal, ProposalError, bound, parsed

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Definition = _Function | ast.ClassDef | ast.Assign | ast.AnnAssign
_Import = ast.Import | ast.ImportFrom

_NOWHERE = "/dev/null"
_OF_GIT = re.compile(r"^(?:diff --git|index|(?:new|deleted) file mode|(?:old|new) mode|similarity index) .*\n", re.M)


class PrivateCopy:
    """A copy of the package of a release in a folder, where proposals are put in place, one after the other."""

    def __init__(self, package: Path, folder: Path) -> None:
        """Copy it, with its bytecode, which takes a process seconds to make."""
        self.release, self.folder = package.parent, folder.resolve()
        self._name = package.name
        copytree(package, self.folder / self._name)
        names = (f"{self._name}/{path}models/cloning.py" for path in ("src/", ""))
        self._cloning = next((name for name in names if (self.folder / name).is_file()), "")

    def cloning_functions(self) -> set[str]:
        """The names of the functions in the file of `clone_model`."""
        tree = ast.parse((self.folder / self._cloning).read_text("utf-8"))
        return {node.name for node in tree.body if isinstance(node, _Function)}

    def put(self, proposal: Proposal) -> None:
        """Put a proposal in place, all of it or nothing."""
        if not proposal.is_for(self._name):
            raise ProposalError(f"it is not for {self._name}")
        if proposal.is_diff:
            _apply(proposal.text, self.folder / self._name)
            return
        for path, text in self._texts(proposal).items():
            path.write_text(text, encoding="utf-8")

    def changed(self) -> list[str]:
        """The files that are not as in the release."""
        roots = (self.release, self.folder)
        files = ((root, file) for root in roots for file in (root / self._name).rglob("*.py"))
        names = {str(file.relative_to(root)) for root, file in files}
        return [name for name in sorted(names) if _lines(self.release / name) != _lines(self.folder / name)]

    def diff(self) -> str:
        """What all proposals change, as one unified diff."""
        lines: list[str] = []
        for name in self.changed():
            old, new = _lines(self.release / name), _lines(self.folder / name)
            names = (f"a/{name}" if old else _NOWHERE, f"b/{name}" if new else _NOWHERE)
            lines += difflib.unified_diff(old, new, *names)
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)

    def _texts(self, proposal: Proposal) -> dict[Path, str]:
        """The files that a proposal changes, with their new text."""
        tree = parsed(proposal.text)
        if tree is None:
            raise ProposalError("not Python")
        new = [node for node in tree.body if isinstance(node, _Definition) and bound(node)]
        names = {name for node in new for name in _names(node)}
        if not proposal.places and not names & self.cloning_functions():
            raise ProposalError("it replaces none of the release's functions")
        texts: dict[Path, str] = {}
        places: Mapping[str, Collection[str]] = proposal.places or {self._cloning: names}
        for name, wanted in places.items():
            path = self.folder / name
            if ".." in path.parts or not path.parent.is_dir():
                raise ProposalError(f"{name}: the release has no such folder")
            if missing := set(wanted) - names:
                raise ProposalError(f"its block `# /// clonediff` names {min(missing)}, which it does not define")
            chosen = [node for node in new if _names(node) & set(wanted)]
            if not path.is_file():
                texts[path] = _new_file(tree, proposal.text, chosen)
                continue
            file = _File(path.read_text("utf-8"), proposal.text)
            file.put(chosen, set(wanted))
            module = name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            imports = [node for node in tree.body if isinstance(node, _Import)]
            file.add_imports(node for node in imports if getattr(node, "module", "") != module)
            texts[path] = file.text()
        return texts


def _lines(file: Path) -> list[str]:
    return file.read_text("utf-8").splitlines(keepends=True) if file.is_file() else []


def _new_file(tree: ast.Module, source: str, chosen: Collection[ast.stmt]) -> str:
    """The source without its header, and without what is for other files."""
    lines, used = source.splitlines(), _used(chosen)
    for node in tree.body:
        if not isinstance(node, ast.Expr) and node not in chosen and not bound(node) & used:
            lines[_start(node) - 1 : node.end_lineno] = [""] * (_end(node) - _start(node) + 1)
    text = HEADER.sub("", "\n".join((*lines, "")))
    return re.sub(r"\n{4,}", "\n\n\n", re.sub(r"\n+\Z", "\n", text))


def _used(nodes: Iterable[ast.stmt]) -> set[str]:
    return {name.id for node in nodes for name in ast.walk(node) if isinstance(name, ast.Name)}


class _File:
    """A file of a release, and what is put into it of the source of a proposal."""

    def __init__(self, text: str, source: str) -> None:
        self._tree = ast.parse(text)
        self._lines, self._source = text.splitlines(), source.splitlines()
        self._before: defaultdict[int, list[str]] = defaultdict(list)
        self._gone: set[int] = set()
        self._used: set[str] = set()

    def text(self) -> str:
        """The file with all that was put into it."""
        lines: list[str] = []
        for number, line in enumerate((*self._lines, ""), 1):
            lines += self._before[number]
            lines += [] if number in self._gone else [line]
        return "\n".join(lines)

    def put(self, new: Collection[ast.stmt], wanted: set[str]) -> None:
        """Put what is wanted of definitions in place."""
        self._used = _used(new) - {name for node in (*self._tree.body, *new) for name in bound(node)}
        self._put(new, self._tree.body, wanted, len(self._lines) + 1)

    def add_imports(self, imports: Iterable[_Import]) -> None:
        """Import what is used and not there, in the order that Keras' imports have."""
        theirs = [node for node in self._tree.body if isinstance(node, _Import)]
        for node in sorted(imports, key=_order):
            if not bound(node) & self._used:
                continue
            same = [other for other in theirs if _order(other)[0] == _order(node)[0]]
            higher = next((other for other in same or theirs if _order(other) > _order(node)), None)
            gap = [] if same else [""]
            if higher is not None:
                self._before[higher.lineno] += [ast.unparse(node), *gap]
            else:
                last = max(map(_end, same or theirs), default=0)
                self._before[last + 1] += [*gap, ast.unparse(node)]

    def _put(self, new: Iterable[ast.stmt], old: list[ast.stmt], wanted: set[str], after: int, of: str = "") -> None:
        """Put definitions among those of the file, or of a class of it."""
        theirs = {name: node for node in reversed(old) for name in bound(node)}
        newest = {name: node for node in new for name in bound(node)}
        blank = [""] if of else ["", ""]
        waiting: list[ast.stmt] = []
        for name, node in newest.items():
            if of and not {of, f"{of}.{name}"} & wanted:
                continue
            if name not in theirs:
                waiting.append(node)
                continue
            before = theirs[name]
            for piece in waiting:
                self._before[_start(before)] += [*self._of(piece), *blank]
            waiting, after = [], _end(before) + 1
            if isinstance(node, ast.ClassDef) and isinstance(before, ast.ClassDef):
                self._put(node.body, before.body, wanted, after, name)
            else:
                self._gone |= set(range(_start(before), after))
                self._before[_start(before)] += self._merged(node, before)
        for piece in waiting:
            self._before[after] += [*blank, *self._of(piece)]

    def _merged(self, new: ast.stmt, old: ast.stmt) -> list[str]:
        """A definition with the decorators of another, and its docstring if it has none."""
        if not isinstance(new, _Function) or not isinstance(old, _Function):
            return self._of(new)
        theirs = set(map(ast.unparse, old.decorator_list))
        lines = self._lines[_start(old) - 1 : old.lineno - 1]
        for decorator in new.decorator_list:
            if ast.unparse(decorator) not in theirs:
                lines += self._source[decorator.lineno - 1 : decorator.end_lineno]
        if ast.unparse(new.body[0]) == "...":
            return lines + self._lines[old.lineno - 1 : old.end_lineno]
        body, its = new.body[0].lineno, old.body[0]
        lines += self._source[new.lineno - 1 : body - 1]
        if ast.get_docstring(new) is None and ast.get_docstring(old) and body > new.lineno:
            lines += self._lines[its.lineno - 1 : its.end_lineno]
        return lines + self._source[body - 1 : new.end_lineno]

    def _of(self, node: ast.stmt) -> list[str]:
        return self._source[_start(node) - 1 : node.end_lineno]


def _names(node: ast.stmt) -> set[str]:
    """The names by which a header may mean a definition: what it binds, and a class by its methods."""
    methods = node.body if isinstance(node, ast.ClassDef) else []
    inner = {name for method in methods for name in bound(method)}
    return bound(node) | {f"{name}.{method}" for name in bound(node) for method in inner}


def _start(node: ast.stmt) -> int:
    """The first line of a statement, that of a decorator if it has one."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _end(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno


def _order(node: _Import) -> tuple[int, bool, str]:
    """What Keras sorts its imports by."""
    text = ast.unparse(node)
    package = re.split(r"[ .]", text)[1]
    group = 0 if package in sys.stdlib_module_names else 1 + (package in ("keras", "tf_keras"))
    return group, text.startswith("from"), text


def _apply(diff: str, package: Path) -> None:
    """Apply a diff to a package, all of it or nothing, but for tests and docs."""
    if not DIFF.search(diff):
        raise ProposalError("no diff in it: no line `--- FILE` with a line `+++ FILE` after it")
    # Files are named from the package on, wherever the diff was made.
    text = re.sub(
        rf"(?m)^(---|\+\+\+) \S*?\b({package.name}/(?!{package.name}/)\S+).*", r"\1 a/\2", _OF_GIT.sub("", diff)
    )
    command = ["git", "apply", "--apply", "--numstat", "--whitespace=fix", "--unidiff-zero"]
    command += ["--exclude=*_test.py", f"--include={package.name}/*"]
    # Within another repository, git would leave out what is not in its index, without an error.
    variables = {"PATH": os.environ["PATH"], "GIT_CEILING_DIRECTORIES": str(package.parents[1]), "LC_ALL": "C"}
    try:
        done = subprocess.run(
            command, cwd=package.parent, env=variables, input=f"{text}\n".encode(), capture_output=True
        )
    except OSError as error:
        raise ProposalError("git is not on PATH: install it, or give the functions in a Python file") from error
    errors = done.stderr.decode(errors="replace")
    places = re.findall(r"^error: patch failed: (.*)", errors, re.M)
    if places:
        raise ProposalError(f"{' and '.join(places)}: the release has other lines there; make the diff against it")
    if done.returncode:
        raise ProposalError("; ".join(re.findall(r"^(?:error|fatal): (.*)", errors, re.M)[:4]))
    if not done.stdout.strip():
        raise ProposalError("it changes no line of the release")
