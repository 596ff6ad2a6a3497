"""The cloning functions of another release as a candidate: `keras==3.14.1`, say, in the place of a file."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from clonediff.harness.judge.reading import FilePart, Proposal, parsed, statement
from clonediff.harness.subjects.outcomes import CloningFunctions, SubjectError
from clonediff.harness.subjects.releases import open_subject
from clonediff.harness.subjects.subject import Subject

_NAME = re.compile(r"(?:keras|tf_keras)(?:==[^/\\]+)?")


def is_release(name: str) -> bool:
    """Whether an argument names a release, and no file."""
    return _NAME.fullmatch(name) is not None and not Path(name).exists()


def proposal_of(name: str, cloning: CloningFunctions) -> Proposal:
    """The cloning functions of a release as a proposal for one that clones with `cloning`."""
    with open_subject(Subject.parse(name)) as process:
        theirs = process.cloning()
    if not isinstance(theirs, CloningFunctions):
        raise SubjectError(f"{name}: lost while it was asked what it clones with")
    parts = _functions(Path(theirs.file).read_text(encoding="utf-8"), set(cloning.functions))
    if not parts:
        raise SubjectError(f"{name}: its {theirs.module} defines none of {', '.join(cloning.functions)}")
    return Proposal("release", parts, f"the functions that clone in {theirs.module} of {name}")


def _functions(text: str, wanted: set[str]) -> tuple[FilePart, ...]:
    """The functions of these names at the top of a module, and those that they call."""
    tree = parsed(text)
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)} if tree else {}
    taken: set[str] = set()
    ahead = [name for name in functions if name in wanted and "clone" in name]
    while ahead:
        name = ahead.pop()
        if name not in taken:
            taken.add(name)
            names = (node.id for node in ast.walk(functions[name]) if isinstance(node, ast.Name))
            ahead += [each for each in names if each in functions]
    lines = text.split("\n")
    return tuple(statement(node, lines) for name, node in functions.items() if name in taken)
