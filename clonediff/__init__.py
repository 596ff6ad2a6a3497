"""The public names of clonediff; its packages are `harness`, `reports` and `strategies`.

`clone_model(model)` is a drop-in replacement of `keras.models.clone_model` that clones faithfully. `check_clone(graph,
cloner)` checks a cloner on a drawn model, and `assert_clones_faithfully(model)` on a model of the caller.
`assert_config_is_complete(kind)` checks that the config of a class keeps every argument. Importing this imports no
Keras.
"""

from __future__ import annotations

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


def __getattr__(name: str) -> Any:
    """Each when it is asked for: every pytest with clonediff installed imports this."""
    if name in ("UnfaithfulClone", "assert_clones_faithfully", "check_clone"):
        from clonediff.harness.answers import in_process

        return getattr(in_process, name)
    if name in ("IncompleteConfig", "assert_config_is_complete"):
        from clonediff.harness.answers import audit

        return getattr(audit, name)
    if name == "clone_model":
        from clonediff.harness.fixed import clone_model

        return clone_model
    if name == "functional_graphs":
        from clonediff.harness.search.functional_graphs import functional_graphs

        return functional_graphs
    raise AttributeError(f"module 'clonediff' has no attribute {name!r}")
