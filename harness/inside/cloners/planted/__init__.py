"""Cloners that are broken on purpose, for testing the checks, and the reducer, against.

Each begins with a clone by our fixed cloner and breaks one thing in it, wherever the model has that thing; on a model
that has it nowhere, the clone is faithful. The first line of each says which check must catch it.

A fault is a function of the original, that clone and the trial's context: it changes the clone, or returns another.
One of `clone_arguments` makes the clone itself, of what it is given beside the model.
"""

from __future__ import annotations

import functools
import inspect
import types
from typing import Any, Callable, Iterator

from .. import TrialContext
from . import at_rest, behaviour, clone_arguments, deadly, graph, preparations


def _faults(module: types.ModuleType) -> Iterator[Callable[..., Any]]:
    for name, value in vars(module).items():
        if inspect.isfunction(value) and value.__module__ == module.__name__ and not name.startswith("_"):
            yield value


def _planted(fault: Callable[..., Any]) -> Callable[[Any, TrialContext], Any]:
    @functools.wraps(fault)
    def clone(model: Any, context: TrialContext) -> Any:
        faithful = context.framework.fixed()(model, **context.arguments())
        if fault.__module__ == graph.__name__ and not _has_calls(faithful, context):
            return faithful
        other = fault(model, faithful, context)
        return faithful if other is None else other

    return clone


def _has_calls(model: Any, context: TrialContext) -> bool:
    return context.framework.is_graph(model) and type(model).__name__ != "Sequential"


PLANTED: dict[str, Callable[[Any, Any], Any]] = {
    **{
        fault.__name__: _planted(fault)
        for module in (graph, behaviour, at_rest, deadly, preparations)
        for fault in _faults(module)
    },
    **{clone.__name__: clone for clone in _faults(clone_arguments)},
}
"""The planted faults by name."""
