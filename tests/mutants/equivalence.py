"""What a mutant does otherwise than a faithful clone. It shares no code with the harness.

What two faithful clones do not share is chance.
"""

from __future__ import annotations

import importlib
import tempfile
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from clonediff import clone_model

from .operators import OF_THE_OTHER, PLAIN, can_change
from .trials import Mutant, built
from .walk import CONTAINERS, KERAS, SCRIPTS, package, walk

_DEEPEST = 6


def differences(mutant: Mutant) -> dict[str, tuple[str, str]]:
    """What is another in the mutant: what it holds, computes, learns, saves; nothing where it is equivalent."""
    if mutant.key.endswith(OF_THE_OTHER):
        return {mutant.key: ("one of its own", "one for two models")}
    plain, again, changed = (_behaviour(mutant, change) for change in (False, False, True))
    pairs = {key: (plain.get(key, "nothing"), changed.get(key, "nothing")) for key in {**plain, **changed}}
    unlike = {key: pair for key, pair in pairs.items() if pair[0] == again.get(key, "nothing") != pair[1]}
    if all(key.startswith("attribute ") for key in unlike):
        other = _behaviour(mutant, change=False, seed=5)  # of attributes, what is drawn is chance, too
        unlike = {key: pair for key, pair in unlike.items() if pair[0] == other.get(key, "nothing")}
    return unlike


def _behaviour(mutant: Mutant, change: bool, seed: int = 3) -> dict[str, str]:
    """All that a model does from a seed: the clone, or the original where that is changed."""
    keras = importlib.import_module(mutant.model.partition("/")[0])
    keras.backend.clear_session()
    keras.utils.set_random_seed(seed)
    original = built(mutant.model)
    clone = clone_model(original)
    if change:
        mutant.change(original, clone)
    model = original if mutant.is_reversed else clone
    steps: dict[str, Callable[[], Any]] = {
        "weights": lambda: [
            (weight.trainable, np.array(weight)) for weight in [*model.weights, *model.trainable_weights]
        ],
        "config": model.get_config,
        "inference": lambda: model(_inputs(model), training=False),
        "training": lambda: model(_inputs(model), training=True),
        "losses": lambda: model.losses,
        "trained": lambda: _trained(model),
        "trained weights": lambda: model.get_weights(),
        "saved": lambda: _saved(keras, model),
    }
    behaviour = {f"attribute {path}": repr(value) for path, value in _attributes(model)}
    for name, step in steps.items():
        keras.utils.set_random_seed(4)
        try:
            behaviour[name] = repr(tf.nest.map_structure(_plain, step()))
        except Exception as error:
            behaviour[name] = f"raises {type(error).__name__}"
    return behaviour


def _plain(value: Any) -> Any:
    return (value.dtype, np.asarray(value).tolist()) if hasattr(value, "dtype") else value


def _inputs(model: Any) -> Any:
    random = np.random.default_rng(0)

    def array(tensor: Any) -> Any:
        shape, name = tuple(size or 2 for size in tensor.shape), getattr(tensor.dtype, "name", tensor.dtype)
        if name == "string":
            return tf.constant(random.choice(["red", "green", "a word"], shape))
        values = random.integers(0, 2, shape) if "int" in name else random.standard_normal(shape)
        return tf.constant(values.astype(name))

    return tf.nest.map_structure(array, getattr(model, "_inputs_struct", None) or model.input)


def _trained(model: Any) -> Any:
    """What two steps of training and a test give, where the model is compiled."""
    if model.optimizer is None:
        return None
    inputs = _inputs(model)
    targets = tf.nest.map_structure(tf.ones_like, model(inputs))
    steps = [model.train_on_batch(inputs, targets), model.train_on_batch(inputs, targets)]
    return steps, model.test_on_batch(inputs, targets)


def _saved(keras: Any, model: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.keras"
        model.save(path)
        loaded = keras.models.load_model(path, safe_mode=False)
    return repr(loaded.get_config()), loaded(_inputs(model), training=False)


def _attributes(model: Any) -> Iterator[tuple[str, Any]]:
    """What can be read of a model: what the user's classes hold, and what public attributes and properties give."""
    places = walk(model)
    paths = {id(place.value): place.path for place in reversed(places)}
    for place in places:
        if place.is_known and not place.is_unnoticed:
            yield place.path, _described(place.value, paths)
    for thing in {id(place.value): place.value for place in places}.values():
        names = dir(type(thing)) if package(thing) in (*KERAS, *SCRIPTS) else ()
        for name in (name for name in names if name[0] != "_" and isinstance(getattr(type(thing), name), property)):
            try:
                yield f"{paths[id(thing)]}.{name}", _described(getattr(thing, name), paths)
            except Exception as error:
                yield f"{paths[id(thing)]}.{name}", type(error)


def _described(value: Any, paths: dict[int, str], depth: int = 0) -> Any:
    """Plain data: what the model holds by its place, functions by their code and what they close over."""
    kind: list[Any] = [type(value).__module__, *(base.__qualname__ for base in type(value).__mro__)]
    if value is None or isinstance(value, PLAIN) or depth > _DEEPEST:
        return value if isinstance(value, PLAIN) else kind
    if isinstance(value, (np.ndarray, np.generic, tf.Variable)) or (
        isinstance(value, tf.Tensor) and hasattr(value, "numpy")
    ):
        return (
            kind,
            paths.get(id(value)) if isinstance(value, tf.Variable) else None,
            value.dtype,
            np.array(value).tolist(),
        )
    if isinstance(value, CONTAINERS):
        items = [*value.items()] if isinstance(value, dict) else [*value]
        items = sorted(items, key=repr) if isinstance(value, (set, frozenset)) else items
    elif isinstance(value, types.FunctionType):
        code, names = value.__code__, value.__globals__
        kind = [value.__qualname__, code.co_code, code.co_consts]
        items = [names.get(name) for name in code.co_names if isinstance(names.get(name), (*PLAIN, dict))]
        items += [value.__defaults__, value.__kwdefaults__, *(cell.cell_contents for cell in value.__closure__ or ())]
    else:
        return kind, paths.get(id(value), "elsewhere") if can_change(value) else repr(value)
    return kind, [_described(item, paths, depth + 1) for item in items]
