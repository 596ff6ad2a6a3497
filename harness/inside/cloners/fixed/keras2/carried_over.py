"""What a clone takes from its original because no config has it: flags, names, the state of seeds."""

from __future__ import annotations

import contextlib
import inspect
from typing import Any

from ..before_keras3.carried_over import restore_activity_regularizer, restore_flags, shape_taken, side_by_side
from ..options import described
from .release import RELEASE

_FLAGS = ("trainable", "_trainable", "supports_masking")


def restore(original: Any, clone: Any) -> None:
    """Give `clone`, and every layer that it holds, what the config of `original` did not carry.

    The layers of a graph are cloned, and restored, one by one.
    """
    for one, other, _ in side_by_side(original, clone, RELEASE, into_graphs=False):
        if type(one) is not type(other):
            continue
        restore_flags(one, other, _FLAGS)
        if other.name != one.name:
            other.name = one.name
        restore_activity_regularizer(one, other, "activity_regularizer")
        _restore_arguments(one, other)


def align_inputs_alike(original: Any, clone: Any, shapes: list[Any]) -> None:
    """Let a merging layer align its inputs where the original does, whatever its first call here tells.

    It decides that when it is built, and a call that the model leaves out may have built the original. What that call
    was on, nothing keeps. `shapes` are those of the first call in the graph.
    """
    aligns = vars(original).get("_reshape_required")
    if clone.built or aligns is None:
        return
    if aligns != (None in shapes or len(set(map(len, shapes))) > 1):
        clone._reshape_required = aligns
        clone.built = True


def build_uncalled(original: Any, clone: Any) -> None:
    """Build a layer that no call builds, as somebody built its original; refused where its shape is not known."""
    if not original.built or clone.built or not original.weights:
        return
    shape, failure = shape_taken(original), None
    backend = RELEASE.keras.backend
    in_scope = original.weights[0].name.startswith(original.name + "/")
    try:
        if shape:
            with backend.name_scope(original.name) if in_scope else contextlib.nullcontext():
                clone.build(shape)
    except Exception as error:
        failure = error
    if failure is not None or RELEASE.weight_shapes(clone) != RELEASE.weight_shapes(original):
        raise ValueError(
            "%s was built outside of the graph, and its `input_spec` does not tell for which shape. Clone the model"
            " before the layer is built, or call it in the graph." % described(original)
        ) from failure
    clone.built = original.built


def restore_seeds(original: Any, clone: Any) -> None:
    """Let the seeds in the clone's initializers stand where the original's are: drawing moves them on."""
    for one, other, _ in side_by_side(original, clone, RELEASE, into_graphs=False):
        for key, value in vars(one).items():
            twin = vars(other).get(key)
            if type(twin) is not type(value) or twin is value or RELEASE.is_layer(value):
                continue
            if hasattr(value, "get_config") and isinstance(vars(value).get("seed"), int):
                twin.seed = value.seed


def _restore_arguments(one: Any, other: Any) -> None:
    """Keras's own layers keep their arguments by name, but not every one has all of them in its config."""
    if not RELEASE.comes_with_keras(type(one)):
        return
    for name in inspect.signature(type(one).__init__).parameters:
        mine, its = vars(one).get(name), vars(other).get(name)
        if _is_plain(mine) and _is_plain(its) and mine != its:
            vars(other)[name] = mine


def _is_plain(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(_is_plain(item) for item in value)
    return value is None or isinstance(value, (bool, int, float, str))
