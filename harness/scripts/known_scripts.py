"""Parse a known issue's script: which line clones, and what a trial needs."""

from __future__ import annotations

import ast
from typing import Any

import msgspec

from clonediff.harness.observation import Case
from clonediff.reports.known import KnownIssue
from clonediff.reports.records import RecordError

_CLONE_MODEL_PARAMETERS = ("model", "input_tensors", "clone_function")


def cloning_line(text: str) -> int:
    """The line of the first statement that calls `clone_model` or sets `clone`, or 0."""
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError):  # a file of unknown origin
        return 0
    return next((statement.lineno for statement in body if _clone_call(statement) or _assigns_clone(statement)), 0)


def case_of_script(issue: KnownIssue) -> Case:
    """A script's case: source above `cloning_line`, clone arguments, `trial`."""
    line = cloning_line(issue.script)
    body = ast.parse(issue.script).body
    call = next((_clone_call(statement) for statement in body if statement.lineno == line), None)
    if call is None:
        raise RecordError(f"{issue.id}: no statement of its script calls clone_model; add one")
    fields: dict[str, Any] = {
        "batch": 2,
        **issue.trial,
        "source": "".join(issue.script.splitlines(keepends=True)[: line - 1]),
        "arguments": _clone_arguments(call, issue.script),
        "inputs": [_input(spec) for spec in issue.trial.get("inputs", [])],
    }
    try:
        return msgspec.convert(fields, Case)
    except msgspec.ValidationError as error:
        raise RecordError(f"{issue.id}: `trial`: {error}") from error


def _input(spec: dict[str, Any]) -> dict[str, Any]:
    """An input of a `trial` table, with None for sizes of -1."""
    return {**spec, "shape": [None if size < 0 else size for size in spec["shape"]]}


def _clone_call(statement: ast.stmt) -> ast.Call | None:
    calls = (node for node in ast.walk(statement) if isinstance(node, ast.Call))
    return next((call for call in calls if ast.unparse(call.func).rpartition(".")[2] == "clone_model"), None)


def _assigns_clone(statement: ast.stmt) -> bool:
    names = (node for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    return any(name.id == "clone" for name in names)


def _clone_arguments(call: ast.Call, text: str) -> dict[str, str]:
    """The source of clone arguments, by parameter."""
    values = dict(zip(_CLONE_MODEL_PARAMETERS, call.args, strict=False))
    values |= {keyword.arg or "**": keyword.value for keyword in call.keywords}
    sources = {name: ast.get_source_segment(text, value) or "" for name, value in values.items()}
    return {name: source for name, source in sources.items() if (name, source) != ("model", "model")}
