"""Which statements of Keras' own cloning code the trials of this process have run.

Only statements in functions count: the others run when a module is imported. From Python 3.12 on each line that
was seen costs nothing until somebody was told of it; before that, every call in the process costs, so that only one
trial of `RATE` is watched.
"""

from __future__ import annotations

import ast
import contextlib
import sys
from typing import Any, Iterator

from .frameworks.interface import Framework

RATE = 4

_MODULES = (
    "models",
    "models.cloning",
    "models.functional",
    "models.sequential",
    "ops.function",
    "ops.node",
    "ops.symbolic_arguments",
    "layers.layer",
    "layers.core.lambda_layer",
    "layers.core.wrapper",
    "saving.serialization_lib",
    "engine.functional",
    "engine.network",
    "engine.sequential",
    "engine.node",
    "engine.topology",
    "layers.rnn.base_wrapper",
    "layers.wrappers",
)
"""The modules that a clone goes through, within the package, as one generation or another names them."""


class ReachedLines:
    """The lines seen since somebody was told of them last."""

    def __init__(self, framework: Framework) -> None:
        root = framework.keras.models.clone_model.__module__
        for ending in (".models.cloning", ".models"):
            if root.endswith(ending):
                root = root[: -len(ending)]
                break
        self._files: dict[str, str] = {}
        for name in _MODULES:
            module = sys.modules.get("%s.%s" % (root, name))
            path = getattr(module, "__file__", None)
            if path and path.endswith(".py") and not path.endswith("__init__.py"):
                self._files[path] = name.replace(".", "/") + ".py"
        self._codes: dict[Any, set[int] | None] = {}
        self._seen: dict[str, set[int]] = {path: set() for path in self._files}
        self._trials = 0

    def statements(self) -> dict[str, list[dict[str, Any]]]:
        """The statements of each file, in their order."""
        found = {}
        for path, name in self._files.items():
            with open(path, encoding="utf-8") as file:
                found[name] = statements(file.read())
        return found

    def seen(self) -> dict[str, list[int]]:
        """The lines seen since this was asked last, by file."""
        found = {name: sorted(self._seen[path]) for path, name in self._files.items() if self._seen[path]}
        for lines in self._seen.values():
            lines.clear()
        monitoring = getattr(sys, "monitoring", None)
        if monitoring is not None:
            monitoring.restart_events()
        return found

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """See what runs. Whoever watches already, a debugger say, goes on instead."""
        self._trials += 1
        monitoring = getattr(sys, "monitoring", None)
        if monitoring is not None:
            with self._monitoring(monitoring):
                yield
        elif self._trials % RATE == 1 and sys.gettrace() is None:
            sys.settrace(self._called)
            try:
                yield
            finally:
                sys.settrace(None)
        else:
            yield

    @contextlib.contextmanager
    def _monitoring(self, monitoring: Any) -> Iterator[None]:
        tool = monitoring.COVERAGE_ID
        if monitoring.get_tool(tool) is not None:
            yield
            return

        def line(code: Any, number: int) -> Any:
            seen = self._of(code)
            if seen is not None:
                seen.add(number)
            return monitoring.DISABLE

        monitoring.use_tool_id(tool, "reach")
        monitoring.register_callback(tool, monitoring.events.LINE, line)
        monitoring.set_events(tool, monitoring.events.LINE)
        try:
            yield
        finally:
            monitoring.set_events(tool, 0)
            monitoring.register_callback(tool, monitoring.events.LINE, None)
            monitoring.free_tool_id(tool)

    def _called(self, frame: Any, event: str, argument: Any) -> Any:
        seen = self._of(frame.f_code)
        if seen is None:
            return None

        def line(frame: Any, event: str, argument: Any) -> Any:
            if event == "line":
                seen.add(frame.f_lineno)
            return line

        return line

    def _of(self, code: Any) -> set[int] | None:
        """The lines seen of the file that some code is in, None where that is of no interest."""
        try:
            return self._codes[code]
        except KeyError:
            found = self._codes[code] = self._seen.get(code.co_filename)
            return found


def statements(text: str) -> list[dict[str, Any]]:
    """The statements that stand in functions: the lines of each, its function, and how its first line reads.

    One `refuses` if an exception is all that can come of it.
    """
    lines = text.splitlines()
    found: list[dict[str, Any]] = []

    def visit(body: list[Any], function: str, inside: bool, refuses: bool = False) -> None:
        last = _before_raise(body)
        for number, node in enumerate(body):
            its = refuses or number >= last
            name = getattr(node, "name", "")
            is_scope = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
            if inside and not isinstance(node, (ast.Try, ast.Global, ast.Nonlocal)) and not _says_nothing(node):
                found.append(
                    {
                        "first": node.lineno,
                        "last": _last_line(node),
                        "function": function,
                        "text": lines[node.lineno - 1].strip(),
                        "refuses": its,
                    }
                )
            within = ("%s.%s" % (function, name) if function else name) if is_scope else function
            deeper = inside if not is_scope else not isinstance(node, ast.ClassDef)
            for part in ("body", "orelse", "finalbody"):
                visit(getattr(node, part, None) or [], within, deeper, its)
            for handler in getattr(node, "handlers", ()):
                visit(handler.body, within, deeper, its)

    visit(ast.parse(text).body, "", False)
    return found


def _before_raise(body: list[Any]) -> int:
    """Where in a block those statements begin after which nothing is left but the `raise` at its end."""
    if not body or not isinstance(body[-1], ast.Raise):
        return len(body)
    begins = len(body) - 1
    while begins and not any(isinstance(each, _LEAVES) for each in ast.walk(body[begins - 1])):
        begins -= 1
    return begins


_LEAVES = (ast.Return, ast.Continue, ast.Break, ast.Yield, ast.YieldFrom)


def _says_nothing(node: Any) -> bool:
    """A text that stands for itself, or an annotation without a value: no code is made of either."""
    value = getattr(node, "value", None)
    if isinstance(node, ast.Expr):
        return type(value).__name__ in ("Constant", "Str")  # "Str" in Python 3.7
    return isinstance(node, ast.AnnAssign) and value is None


def _last_line(node: Any) -> int:
    """The last line of a statement, without those of the statements in it."""
    body = getattr(node, "body", None)
    if isinstance(body, list) and body:
        return max(int(node.lineno), int(body[0].lineno) - 1)
    return max([int(node.lineno)] + [int(each.lineno) for each in ast.walk(node) if hasattr(each, "lineno")])
