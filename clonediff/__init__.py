"""The public names of clonediff; its packages are `harness`, `reports` and `strategies`.

`clone_model(model)` is a drop-in replacement of `keras.models.clone_model` that clones faithfully. `check_clone(graph,
cloner)` checks a cloner on a drawn model, and `assert_clones_faithfully(model)` on a model of the caller.
`assert_config_is_complete(kind)` checks that the config of a class keeps every argument. Importing this imports no
Keras.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clonediff.harness.answers.audit import IncompleteConfig, assert_config_is_complete
    from clonediff.harness.answers.in_process import UnfaithfulClone, assert_clones_faithfully, check_clone
    from clonediff.harness.fixed import clone_model
    from clonediff.harness.search.functional_graphs import functional_graphs

__all__ = [
    "IncompleteConfig",
    "UnfaithfulClone",
    "assert_clones_faithfully",
    "assert_config_is_complete",
    "check_clone",
    "clone_model",
    "functional_graphs",
]


_MODULES = {
    "IncompleteConfig": "harness.answers.audit",
    "UnfaithfulClone": "harness.answers.in_process",
    "assert_clones_faithfully": "harness.answers.in_process",
    "assert_config_is_complete": "harness.answers.audit",
    "check_clone": "harness.answers.in_process",
    "clone_model": "harness.fixed",
    "functional_graphs": "harness.search.functional_graphs",
}


def __getattr__(name: str) -> Any:
    """Import a name when it is used, since every pytest imports this module."""
    if name not in _MODULES:
        raise AttributeError(f"module 'clonediff' has no attribute {name!r}")
    return getattr(importlib.import_module(f"clonediff.{_MODULES[name]}"), name)
