"""Apply proposals to a private copy of a release, and write a diff.

A definition replaces the definition of the same name. The decorators of the release stay, and so does its docstring if
the new definition has none. A function with the body `...` only adds its decorators. A definition with a new name is
inserted before the proposal's next definition that the file already has, else at the end. `git apply` applies diffs.
"""

from __future__ import annotations

import ast
import difflib
import os
import re
import subprocess
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from shutil import copytree

from clonediff.harness.judge.proposals import IMPORTS, Proposal, ProposalError, bound_names, read_proposal
from clonediff.harness.subjects.environment import SearchPath

_Function = ast.FunctionDef | ast.AsyncFunctionDef

_CLONING_FILES = ("src/models/cloning.py", "models/cloning.py", "models.py")
_GIT_LINES = re.compile(r"^(?:diff --git|index|(?:new|deleted) file mode|(?:old|new) mode|similarity index) .*\n", re.M)


class PrivateCopy:
    """A copy of a release's package, to which proposals are applied."""

    def __init__(self, package: str, search_path: SearchPath, folder: Path, version: str = "") -> None:
        """Copy the package with its bytecode: compiling takes seconds."""
        spec = None if search_path else find_spec(package)
        self.original = Path(spec.origin or "").resolve().parents[1] if spec else Path(search_path[0])
        self.folder, self.package, self.version = folder.resolve(), package, version
        self.search_path: SearchPath = (str(self.folder), *search_path)
        copytree(self.original / package, self.folder / package)
        names = (f"{package}/{name}" for name in _CLONING_FILES)
        self._cloning_file = next((name for name in names if (self.folder / name).is_file()), "")

    def apply(self, name: str, text: str) -> Proposal:
        """Apply a proposal, unless it is for other releases."""
        tree = ast.parse((self.folder / self._cloning_file).read_text("utf-8"))
        proposal = read_proposal(name, text, {node.name for node in tree.body if isinstance(node, _Function)})
        if proposal.is_diff:
            _apply_diff(proposal.text, self.folder / self.package)
        elif proposal.is_for(self.package, self.version):
            for path, new_text in list(self._changed_texts(proposal)):
                path.write_text(new_text, encoding="utf-8")
        return proposal

    def changed_files(self) -> list[str]:
        """The files that differ from the release."""
        roots = (self.original, self.folder)
        names = {str(file.relative_to(root)) for root in roots for file in (root / self.package).rglob("*.py")}
        return [name for name in sorted(names) if _read_lines(self.original / name) != _read_lines(self.folder / name)]

    def diff(self) -> str:
        """All applied proposals as one unified diff."""
        lines: list[str] = []
        for name in self.changed_files():
            old, new = _read_lines(self.original / name), _read_lines(self.folder / name)
            names = (f"a/{name}" if old else "/dev/null", f"b/{name}" if new else "/dev/null")
            lines += difflib.unified_diff(old, new, *names)
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)

    def _changed_texts(self, proposal: Proposal) -> Iterator[tuple[Path, str]]:
        """Yield each file that a proposal changes, with its new text."""
        body = ast.parse(proposal.text).body
        imports = [node for node in body if isinstance(node, IMPORTS)]
        definitions = {name: node for node in body if node not in imports for name in bound_names(node)}
        by_file: Mapping[str, Collection[str]] = proposal.definitions or {self._cloning_file: definitions}
        for file_name, names in by_file.items():
            path = self.folder / file_name
            if ".." in path.parts or not path.parent.is_dir():
                raise ProposalError(f"{file_name}: the release has no such folder; correct the block `# /// clonediff`")
            top_names = {name.partition(".")[0] for name in names}
            if missing := top_names - definitions.keys():
                raise ProposalError(f"it does not define {min(missing)}, which its block `# /// clonediff` names")
            file = _File(path.read_text("utf-8") if path.is_file() else "", proposal.text)
            file.insert([node for name, node in definitions.items() if name in top_names])
            module = file_name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            file.add_imports(node for node in imports if getattr(node, "module", "") != module)
            yield path, file.text()


def _read_lines(file: Path) -> list[str]:
    return file.read_text("utf-8").splitlines(keepends=True) if file.is_file() else []


class _File:
    """The text of a release's file, and edits that insert a proposal's lines."""

    def __init__(self, text: str, proposal: str) -> None:
        self._body = ast.parse(text).body
        self._lines, self._new_lines = text.splitlines(), proposal.splitlines()
        self._edits: list[tuple[slice, list[str]]] = []
        self._new_nodes: list[ast.stmt] = []

    def text(self) -> str:
        lines = [*self._lines]
        # From the end of the file; at the same line, the last insertion is first.
        for span, new in sorted(self._edits, key=lambda edit: edit[0].start, reverse=True):
            lines[span] = new
        return re.sub(r"\n{4,}", "\n\n\n", "\n".join(lines)).strip("\n") + "\n"

    def insert(self, nodes: Iterable[ast.stmt], owner: ast.ClassDef | None = None) -> None:
        """Insert or replace definitions in the file or a class."""
        body, gap = (owner.body, [""]) if owner else (self._body, ["", ""])
        old_nodes = {name: node for node in reversed(body) for name in bound_names(node)}
        new_nodes = {name: node for node in nodes for name in bound_names(node)}
        line = end = _lines_of(body[-1]).stop if body else 0
        for name, node in reversed(new_nodes.items()):
            old_node = old_nodes.get(name)
            if old_node is None and isinstance(node, _Function) and ast.unparse(node.body[0]) == "...":
                raise ProposalError(f"the release does not define {name}: make the fix for this release")
            line = line if old_node is None else _lines_of(old_node).start
            if isinstance(node, ast.ClassDef) and isinstance(old_node, ast.ClassDef):
                self.insert(node.body, old_node)
                continue
            self._new_nodes.append(node)
            lines = self._new_lines[_lines_of(node)]
            if old_node is not None:
                self._edits.append((_lines_of(old_node), self._merge(node, old_node)))
            else:
                lines = [*gap, *lines] if line == end else [*lines, *gap]
                self._edits.append((slice(line, line), lines))

    def add_imports(self, imports: Iterable[ast.stmt]) -> None:
        """Add the imports that the new definitions need, sorted as in Keras."""
        names = {name.id for node in self._new_nodes for name in ast.walk(node) if isinstance(name, ast.Name)}
        names -= {name for node in (*self._body, *self._new_nodes) for name in bound_names(node)}
        old_imports = [(_import_key(node), _lines_of(node)) for node in self._body if isinstance(node, IMPORTS)]
        groups = {key[0] for key, _ in old_imports}
        for key in sorted({_import_key(node) for node in imports if bound_names(node) & names}, reverse=True):
            ends = [span.stop for other, span in old_imports if other[0] == key[0] and other < key]
            starts = [span.start for other, span in old_imports if other > key]
            gap = [] if key[0] in groups else [""]
            line = max(ends) if ends else min(starts, default=0)
            self._edits.append((slice(line, line), [key[2], *gap]))
            groups.add(key[0])

    def _merge(self, new: ast.stmt, old: ast.stmt) -> list[str]:
        """The new definition, with the old decorators and docstring."""
        if not isinstance(new, _Function) or not isinstance(old, _Function):
            return self._new_lines[_lines_of(new)]
        texts = set(map(ast.unparse, old.decorator_list))
        spans = [_lines_of(decorator) for decorator in new.decorator_list if ast.unparse(decorator) not in texts]
        lines = self._lines[_lines_of(old).start : old.lineno - 1]
        lines += [line for span in spans for line in self._new_lines[span]]
        if ast.unparse(new.body[0]) == "...":
            return lines + self._lines[old.lineno - 1 : old.end_lineno]
        start = new.body[0].lineno - 1
        lines += self._new_lines[new.lineno - 1 : start]
        if ast.get_docstring(new) is None and ast.get_docstring(old) and start >= new.lineno:
            lines += self._lines[_lines_of(old.body[0])]
        return lines + self._new_lines[start : new.end_lineno]


def _lines_of(node: ast.stmt | ast.expr) -> slice:
    """The lines of a statement, with its decorators."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return slice(min([node.lineno, *(decorator.lineno for decorator in decorators)]) - 1, node.end_lineno)


def _import_key(node: ast.stmt) -> tuple[int, bool, str]:
    """The sort key of an import: group, `from` or not, text."""
    text = ast.unparse(node)
    package = re.split(r"[ .]", text)[1]
    group = 0 if package in sys.stdlib_module_names else 1 + (package in ("keras", "tf_keras"))
    return group, text.startswith("from"), text


def _apply_diff(diff: str, package: Path) -> None:
    """Apply a diff to a package, without tests and docs: all of it or nothing."""
    # Strip the folders above the package from file names.
    name = package.name
    text = re.sub(rf"(?m)^(---|\+\+\+) \S*?\b({name}/(?!{name}/)\S+).*", r"\1 a/\2", _GIT_LINES.sub("", diff))
    command = ["git", "apply", "--apply", "--numstat", "--whitespace=fix", "--unidiff-zero"]
    command += ["--exclude=*_test.py", f"--include={name}/*"]
    # In another repository, git would silently skip files outside its index.
    variables = {"PATH": os.environ["PATH"], "GIT_CEILING_DIRECTORIES": str(package.parents[1]), "LC_ALL": "C"}
    try:
        result = subprocess.run(
            command, cwd=package.parent, env=variables, input=f"{text}\n".encode(), capture_output=True
        )
    except OSError as error:
        raise ProposalError("git is not on PATH: install git, or write the functions into a Python file") from error
    if result.returncode:
        errors = re.findall(r"^(?:error|fatal): (.*)", result.stderr.decode(errors="replace"), re.M)
        raise ProposalError(f"{'; '.join(errors[:4])}: make the diff against this release")
    if not result.stdout.strip():
        raise ProposalError("it changes no line of the release: make it against this release")
