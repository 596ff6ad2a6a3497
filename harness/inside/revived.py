"""What is lost of a model whose clone cannot be made: each object revived alone from its config.

The model is copied. Then each layer, loss, metric and optimizer of the copy takes what its config gives back, so that
the usual comparison tells what a config loses.
"""

from __future__ import annotations

import contextlib
import types
from collections.abc import Iterator
from typing import Any

from .cloners import TrialContext, fixed
from .frameworks.interface import Framework
from .leaks import owned
from .structure import leaves

_LAYER_OPTIONS = frozenset(["supports_masking", "autocast", "_trainable"])
"""What a config can lose of what all layers have; the rest of that is how a layer was made, named and called."""
_OPTIONS = (bool, int, float, str, type, types.NoneType, types.FunctionType)


def revived(model: Any, framework: Framework) -> Any:
    """A copy of the model that holds what configs keep. An object that cannot be revived is as in the model."""
    clone = fixed(model, TrialContext(framework, {}))
    plain = vars(framework.keras.layers.Layer()).keys() - _LAYER_OPTIONS
    for thing in _with_a_config(clone, framework):
        with contextlib.suppress(Exception):  # whatever a class says to its config: it crashes, or upstream does
            revived_thing = type(thing).from_config(thing.get_config())
            _call_alike(thing, revived_thing, framework)
            _take(thing, revived_thing, plain, framework)
    return clone


def _with_a_config(model: Any, framework: Framework) -> Iterator[Any]:
    """The layers that a graph calls, none of them a graph, and all losses, metrics and optimizers."""
    keras = framework.keras
    compiled = (keras.losses.Loss, keras.metrics.Metric, keras.optimizers.Optimizer)
    for thing in list(owned(model).values()):
        if isinstance(thing, compiled) or (
            (
                isinstance(thing, framework.layer_class)
                and not framework.is_graph(thing)
                and type(thing).__name__ != "InputLayer"
            )
            and framework.layer_nodes(thing)
        ):
            yield thing


def _call_alike(thing: Any, revived_thing: Any, framework: Framework) -> None:
    """Call a revived layer as the first call of the original, which builds it, on inputs of its own."""
    if not isinstance(thing, framework.layer_class) or not framework.layer_nodes(thing):
        return

    def like(leaf: Any) -> Any:
        if not isinstance(leaf, framework.tensor_class):
            return leaf
        return framework.keras.Input(batch_shape=framework.shape(leaf), dtype=framework.dtype(leaf))

    args, kwargs = framework.arguments(framework.layer_nodes(thing)[0])
    revived_thing(*framework.map_leaves(like, tuple(args)), **framework.map_leaves(like, dict(kwargs)))


def _take(thing: Any, revived_thing: Any, plain: Any, framework: Framework) -> None:
    """Give an object the options of the revived one; what it is made of, such as layers, those of the parts there."""
    for name in vars(thing).keys() & vars(revived_thing).keys() - plain:
        before, after = vars(thing)[name], vars(revived_thing)[name]
        if type(before) is type(after) and hasattr(before, "get_config") and hasattr(before, "__dict__"):
            _take(before, after, plain, framework)
        elif all(isinstance(leaf, _OPTIONS) for leaf in leaves([before, after])):
            vars(thing)[name] = after
