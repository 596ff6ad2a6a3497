"""The cloning functions of another release as a candidate: `keras==2.2.5`, say, in the place of a file."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from clonediff.harness.judge.reading import FilePart, Proposal, first_line, parsed
from clonediff.harness.subjects.outcomes import CloningFunctions, SubjectError
from clonediff.harness.subjects.releases import open_subject
from clonediff.harness.subjects.subject import Subject

_NAME = re.compile(r"(?:keras|tf_keras|tensorflow)(?:==[^/\\]+)?")


def is_release(name: str) -> bool:
    """Whether an argument names a release, and no file."""
    return _NAME.fullmatch(name) is not None and not Path(name).exists()


def proposal_of(name: str, cloning: CloningFunctions) -> tuple[str, Proposal]:
    """The cloning functions of a release, as text and as a proposal for one that clones with `cloning`."""
    with open_subject(Subject.parse(name)) as process:
        theirs = process.cloning()
    if not isinstance(theirs, CloningFunctions):
        raise SubjectError(f"{name}: lost while it was asked what it clones with")
    text = Path(theirs.file).read_text(encoding="utf-8")
    pieces = _functions(text, set(cloning.functions))
    if not pieces:
        raise SubjectError(f"{name}: its {theirs.module} defines none of {', '.join(cloning.functions)}")
    whole = "\n\n".join(piece.text for piece in pieces) + "\n"
    said = f"the functions that clone in {theirs.module} of {name}"
    return whole, Proposal(name, "release", whole, pieces, taken=said)


def _functions(text: str, wanted: set[str]) -> tuple[FilePart, ...]:
    """The functions of these names at the top of a module, and those that they call."""
    tree = parsed(text)
    if tree is None:
        return ()
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    taken: set[str] = set()
    ahead = [name for name in functions if name in wanted and "clone" in name]
    while ahead:
        name = ahead.pop()
        if name in taken:
            continue
        taken.add(name)
        ahead += [node.id for node in ast.walk(functions[name]) if isinstance(node, ast.Name) and node.id in functions]
    lines = text.split("\n")
    pieces = []
    for name, node in functions.items():
        if name in taken:
            first = first_line(node)
            pieces.append(FilePart("\n".join(lines[first - 1 : node.end_lineno]) + "\n", first))
    return tuple(pieces)
