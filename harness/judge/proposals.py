"""A proposed fix as people have it: a Python file, a unified diff, or a text with code blocks. Nothing of it is run.

A diff is applied with `git apply` to a private copy of a release's package. A path that leaves the copy is refused.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import textwrap
from collections.abc import Collection
from pathlib import Path

import msgspec

_HEADER = re.compile(r"^--- (?P<old>\S+).*\n\+\+\+ (?P<new>\S+).*\n(?=@@)", re.MULTILINE)
_OF_GIT = re.compile(r"^(?:diff --git|index|(?:new|deleted) file mode|(?:old|new) mode|similarity index) .*\n", re.M)
_FENCED = re.compile(
    r"^[ \t>]*(?P<fence>```+|~~~+)(?P<info>[^\n`]*)\n(?P<text>.*?)(?:^[ \t>]*(?P=fence)|\Z)", re.M | re.S
)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
_NOWHERE = "/dev/null"
_CONTEXT = 3
"""The lines that a hunk usually has after what it changes."""


class ProposalError(ValueError):
    """A proposal that cannot be put in place; the message says why. That is a verdict on it."""


class Proposal(msgspec.Struct, frozen=True):
    """Code for the place of the release's own functions, or a diff. `part` says which part of the file it is."""

    text: str
    part: str
    is_diff: bool = False


def read_proposal(name: str, text: str, functions: Collection[str]) -> Proposal:
    """What a file proposes, for a release whose cloning functions have these names."""
    suffix = Path(name).suffix.lower()
    if suffix in (".diff", ".patch"):
        return Proposal(text, "the whole file, a diff", is_diff=True)
    tree = _parsed(text)
    if suffix == ".py" or (tree and any(isinstance(node, _DEFINITIONS) for node in tree.body)):
        return Proposal(text, "the whole file")
    blocks = list(_FENCED.finditer(text))
    code = [block for block in blocks if _defines(block, functions)]
    if any(_names(block) & set(functions) for block in code):
        numbers = [_line(block) for block in code]
        # Each block stays at its line of the file, which an exception then names.
        lines = [""] * text.count("\n")
        for block, number in zip(code, numbers, strict=True):
            lines[number - 1 : number - 1 + block["text"].count("\n")] = _code(block).splitlines()
        return Proposal("\n".join((*lines, "")), f"the code at line {' and '.join(map(str, numbers))}")
    diffs = [block for block in blocks if _HEADER.search(_code(block))]
    if diffs:
        return Proposal(_code(diffs[-1]), f"the code block at line {_line(diffs[-1])}, a diff", is_diff=True)
    if not blocks and _HEADER.search(text):
        return Proposal(text, "the whole file, a diff", is_diff=True)
    if not blocks:
        raise ProposalError("no code in it: no code block, no diff, no definition")
    clone = ", ".join(sorted(function for function in functions if "clone" in function))
    raise ProposalError(f"it defines none of the release's cloning functions ({clone})")


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
    names = set()
    for node in tree.body if tree is not None else ():
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return names


def _defines(block: re.Match[str], functions: Collection[str]) -> bool:
    """Whether a block defines one of the functions, or has only definitions, which another may use."""
    tree = _parsed(_code(block))
    if tree is None or not tree.body:
        return False
    return bool(_names(block) & set(functions)) or all(isinstance(node, _DEFINITIONS) for node in tree.body)


def apply(diff: str, package: Path, private: Path) -> None:
    """Copy a package into the folder `private` and apply a diff there, all of it or nothing, but for tests and docs."""
    if shutil.which("git") is None:
        raise ProposalError("git is not on PATH: install it, or give the changed functions in a Python file")
    if not _HEADER.search(diff):
        raise ProposalError("no diff in it: no line `--- FILE` with a line `+++ FILE` after it")
    text = _HEADER.sub(lambda header: _rooted(header, package), _OF_GIT.sub("", diff))
    private = private.resolve()
    shutil.copytree(package, private / package.name)  # with its bytecode, which takes a process seconds to make
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
