"""What other projects use of clonediff; the rooms that it is made of are `harness`, `reports` and `strategies`.

`clone_model(model)` is a drop-in for `keras.models.clone_model` that holds where that does not; `check_clone(graph,
cloner)` holds a cloner against everything that makes a clone faithful, on a model that was drawn, and
`assert_clones_faithfully(model)` does so on one of the caller's own. `assert_config_is_complete(kind)` says whether the
config of a class keeps every argument. Importing this imports no Keras.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clonediff.harness.answers.audit.in_process import (
        IncompleteConfig,
        assert_config_is_complete,
        classes_with_config,
    )
    from clonediff.harness.trials.drawable_kinds import graphs_here as functional_graphs
    from clonediff.harness.trials.in_process import UnfaithfulClone, assert_clones_faithfully, check_clone

__all__ = [
    "IncompleteConfig",
    "UnfaithfulClone",
    "assert_clones_faithfully",
    "assert_config_is_complete",
    "check_clone",
    "classes_with_config",
    "clone_model",
    "functional_graphs",
]


def __getattr__(name: str) -> Any:
    """Each when it is asked for: every pytest with clonediff installed imports this."""
    if name in ("UnfaithfulClone", "assert_clones_faithfully", "check_clone"):
        from clonediff.harness.trials import in_process

        return getattr(in_process, name)
    if name in ("IncompleteConfig", "assert_config_is_complete", "classes_with_config"):
        from clonediff.harness.answers.audit import in_process as audit

        return getattr(audit, name)
    if name == "functional_graphs":
        from clonediff.harness.trials.drawable_kinds import graphs_here

        return graphs_here
    raise AttributeError(f"module 'clonediff' has no attribute {name!r}")


def clone_model(model: Any, *args: Any, weights: bool = False, **kwargs: Any) -> Any:
    """Clone a Functional or Sequential model: new layers, new weights, the same function.

    Takes what the `clone_model` of the model's own Keras takes, Keras 3 or `tf_keras`, and does what that documents. It
    holds where the releases do not: a `Lambda` of any sort keeps its function, its mask and its arguments; calls of a
    shared layer keep their order; frozen parts stay frozen; names, options of inputs and call arguments survive. Safe
    loading is not switched off for that: live functions are handed on and never serialized.

    With `weights`, the clone goes on where the model is: it gets the values of its weights and states, and, where both
    are compiled, what the optimizer has counted.
    """
    from clonediff.harness.inside.frameworks import framework, generation_of

    generation = generation_of(model)
    if generation == "tf_keras":
        from clonediff.harness.inside.cloners.fixed import tf_keras

        clone = tf_keras.clone_model(model, *args, **kwargs)
    else:
        from clonediff.harness.inside.cloners.fixed import keras3

        clone = keras3.clone_model(model, *args, **kwargs)
    if weights:
        from clonediff.harness.inside.copied_weights import copy_weights

        copy_weights(model, clone, framework(generation))
    return clone
