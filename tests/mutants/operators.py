"""The mutation operators: each makes one change to a clone or to the original."""

from __future__ import annotations

import collections
import types
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import tensorflow as tf

from tests.mutants.walk import CONTAINERS, KERAS, SCRIPTS, TRAINING_CLASSES, Place, has_base, package, walk

Changes = Iterator[tuple[str, Callable[[], object]]]
"""Pairs: the description of a change, and a function that makes it."""

PLAIN = (bool, int, float, str)
_NEVER_CHANGES = (*PLAIN, bytes, type(None), type, tuple, frozenset, types.FunctionType, types.ModuleType, tf.Tensor)
_VALUES = ("Policy", "TensorShape", "DType")
_TWINS: dict[Any, Any] = {list: tuple, tuple: list, set: frozenset, frozenset: set, collections.OrderedDict: dict}
_TWINS[dict] = collections.OrderedDict


class Scene:
    """The model to change, a clone or an original, and its counterpart."""

    def __init__(self, model: Any, other: Any, *, is_clone: bool) -> None:
        self.model, self.other, self.is_clone = model, other, is_clone
        self.others = {place.path: place.value for place in walk(other)}
        shared = {id(value) for value in self.others.values()} if is_clone else set()
        known = [place for place in walk(model) if id(place.changed) not in shared and not place.is_unnoticed]
        known = [place for place in known if place.is_known or has_base(place.value, TRAINING_CLASSES)]
        # In Keras classes, one place of each kind is enough.
        firsts = {place.kind + place.step: place for place in reversed(known)}
        self.places = [place for place in known if is_user_defined(place) or firsts[place.kind + place.step] is place]
        self.objects = list({id(place.value): place.value for place in known}.values())

    def another(self, value: Any) -> Any:
        """Another value of the same class, or None."""
        if isinstance(value, bool):
            return not value
        if isinstance(value, PLAIN):
            return value + "x" if isinstance(value, str) else value + 1
        if isinstance(value, list):
            return [*value, *value[-1:]]
        if isinstance(value, dict):
            return {key: self.another(item) for key, item in value.items()}
        like = [found for found in self.objects if type(found) is type(value) and _shape(found) == _shape(value)]
        return next((found for found in reversed(like) if found is not value and _text(found) != _text(value)), None)


def _shape(item: Any) -> str:
    return str(getattr(item, "shape", ""))


def _text(item: Any) -> str:
    """Return the contents of an object as text; objects with equal texts are interchangeable."""
    return repr(getattr(item, "__dict__", id(item)))


def is_user_defined(place: Place) -> bool:
    """Whether the value is user code."""
    function = getattr(place.value, "func", place.value)
    is_function = isinstance(function, types.FunctionType) and function.__module__ in SCRIPTS
    return place.is_user_defined or is_function or isinstance(place.value, np.ndarray) or _is_constant(place.value)


def is_of_training(place: Place) -> bool:
    """Whether a place is a loss, metric, optimizer or schedule, or in one."""
    return has_base(place.value, TRAINING_CLASSES) or has_base(place.attribute.holder, TRAINING_CLASSES)


def can_change(value: Any) -> bool:
    """Whether a value is mutable, so that two models must not share it."""
    if isinstance(value, _NEVER_CHANGES) or type(value).__name__.endswith(_VALUES):
        return False
    is_array = isinstance(value, np.ndarray) and value.ndim > 0
    return is_array or isinstance(value, CONTAINERS) or hasattr(value, "__dict__")


def _is_constant(value: Any) -> bool:
    return isinstance(value, tf.Tensor) and hasattr(value, "numpy")


def _differ(one: Any, two: Any) -> bool:
    """Whether two values differ, so that one can replace the other."""
    kinds = [[type(item), *(map(type, item) if isinstance(item, (list, tuple)) else ())] for item in (one, two)]
    if kinds[0] != kinds[1] or isinstance(one, bool):
        return False
    return one != two if isinstance(one, PLAIN) else one is not two


# -- changes of one place


def _new_values(scene: Scene, place: Place) -> Iterator[tuple[str, str, Any]]:
    """Yield values that can replace the value of a place, each with its operator and a description."""
    value, kind, other = place.value, type(place.value), scene.others.get(place.path)
    is_object = can_change(value) and not isinstance(value, (*CONTAINERS, np.ndarray))
    if type(other) is kind and other is not value and can_change(other):
        yield "alias", "the very object of the other model", other
    if is_object or _is_constant(value) or isinstance(value, types.FunctionType):
        yield "reference", "another of its class", scene.another(value)
    if isinstance(value, PLAIN):
        yield "value", repr(scene.another(value)), scene.another(value)
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiu":
        yield "array", "other numbers", value + value.dtype.type(1)
        yield "dtype", "float16", value.astype("float16")
    elif _is_constant(value) and value.dtype.is_floating:
        yield "array", "other numbers", value + tf.ones_like(value)
        yield "dtype", "float16", tf.cast(value, "float16")
    elif kind.__name__ in ("DTypePolicy", "Policy"):
        yield "dtype", "float64", kind("float64")
    elif isinstance(value, str) and value in ("float32", "int32", "bfloat16", "string"):
        yield "dtype", "float64", "float64"
    if not place.is_private:
        yield "dropped", "None", None
        yield from _other_containers(value)
    for text, function in _other_functions(scene, value):
        yield "function", text, function


def _other_containers(value: Any) -> Iterator[tuple[str, str, Any]]:
    for kind, twin in _TWINS.items():
        if type(value) is kind or (package(value) in KERAS and kind in type(value).__mro__):
            yield "class", twin.__name__, twin(value)
    if isinstance(value, (list, tuple)) and value and _differ(value[0], value[-1]):
        make = getattr(type(value), "_make", list)
        yield "swapped", "its first and last item", make([value[-1], *value[1:-1], value[0]])
    if isinstance(value, dict) and len(value) > 1:
        first, *_, last = value
        if _differ(value[first], value[last]):
            yield "swapped", "the values of two keys", {**value, first: value[last], last: value[first]}


def _other_functions(scene: Scene, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, partial):
        yield "arguments", partial(value.func, *value.args, **scene.another(value.keywords))
    if not isinstance(value, types.FunctionType) or value.__module__ not in SCRIPTS:
        return
    code, cells, names = value.__code__, value.__closure__ or (), value.__globals__
    constants = tuple(constant + 1 if type(constant) in (int, float) else constant for constant in code.co_consts)
    if constants != code.co_consts:
        yield "code", _copy_function(value, code=code.replace(co_consts=constants))
    if cells:
        cell = types.CellType(scene.another(cells[0].cell_contents))
        yield "closure", _copy_function(value, closure=(cell, *cells[1:]))
    if value.__defaults__:
        yield "default", _copy_function(value, defaults=tuple(map(scene.another, value.__defaults__)))
    read = {name: names.get(name) for name in code.co_names if isinstance(names.get(name), (int, float, dict))}
    if read:
        yield "global", _copy_function(value, names={**names, **scene.another(read)})


def _copy_function(function: Any, **others: Any) -> Any:
    """Return a copy of a function with other code, closure, defaults or globals."""
    parts = [others.get("code", function.__code__), others.get("names", function.__globals__), function.__name__]
    parts += [others.get("defaults", function.__defaults__), others.get("closure", function.__closure__)]
    new = types.FunctionType(*parts)
    new.__module__, new.__qualname__, new.__kwdefaults__ = SCRIPTS[0], function.__qualname__, function.__kwdefaults__
    return new


def _changes(scene: Scene, place: Place) -> Iterator[tuple[str, str, Callable[[], object]]]:
    """Yield the changes of a place, each with its operator and a description."""
    value, kind = place.value, type(place.value)
    for operator, text, other in _new_values(scene, place) if place.step else ():
        if other is not value and not (operator == "reference" and other is None):
            yield operator, text, partial(place.put, other)
    if place.is_private or not place.step:
        return
    yield "dropped", "dropped", place.drop
    is_object = package(value) in (*KERAS, *SCRIPTS) and not isinstance(value, CONTAINERS)
    if is_object and can_change(value) and not hasattr(value, "shape"):
        names = {"__module__": "elsewhere", "__qualname__": kind.__qualname__, "__slots__": ()}
        namesake = partial(type(kind), kind.__name__, (kind,), names)
        yield "class", "one of the same name", lambda: setattr(value, "__class__", namesake())
    for twin in scene.places if place.step == "attribute" else ():
        if twin.holder is place.holder and str(twin.key) > place.key and _differ(value, twin.value):
            yield "swapped", f"with {twin.key}", lambda twin=twin: (place.put(twin.value), twin.put(value))
            return


def _at_places(*operators: str, of_training: bool = False) -> Callable[[Scene], Changes]:
    """Return an operator that makes the changes with these names (default: all) at each place."""

    def operator(scene: Scene) -> Changes:
        for place in scene.places:
            if is_of_training(place) == of_training:
                for name, text, change in _changes(scene, place):
                    if name in operators or not operators:
                        yield f"{place.path}: {text}", change

    return operator


# -- changes of the graph and of weights


def _graph_changes(scene: Scene) -> Changes:
    for number, model in enumerate(part for part in (scene.model, *scene.objects) if hasattr(part, "_nodes_by_depth")):
        yield from _end_changes(number, model)
        nodes = [node for depth in sorted(model._nodes_by_depth, reverse=True) for node in model._nodes_by_depth[depth]]
        made: list[Any] = []
        for place, node in enumerate(nodes):
            flat = tf.nest.flatten(_arguments(node))
            changed = {f"argument {n}": {n: scene.another(one)} for n, one in enumerate(flat) if type(one) in PLAIN}
            tensors = [index for index, leaf in enumerate(flat) if hasattr(leaf, "_keras_history")]
            for first, last in zip(tensors[:1], tensors[-1:], strict=True):
                if flat[first] is not flat[last]:
                    changed["two tensors swapped"] = {first: flat[last], last: flat[first]}
                like = [other for other in made if other is not flat[first] and _shape(other) == _shape(flat[first])]
                if like:
                    changed["another tensor"] = {first: like[-1]}
            for text, leaves in changed.items():
                yield f"graph {number}, call {place}: {text}", partial(_call_on, model, node, flat, leaves)
            made += tf.nest.flatten(node.outputs)


def _arguments(node: Any) -> tuple[Any, Any]:
    of_keras_3 = getattr(node, "arguments", None)
    return (of_keras_3.args, of_keras_3.kwargs) if of_keras_3 else (node.call_args, [*node.call_kwargs.values()])


def _call_on(model: Any, node: Any, flat: list[Any], changed: dict[int, Any]) -> None:
    """Change the arguments of a call."""
    leaves = [changed.get(index, leaf) for index, leaf in enumerate(flat)]
    args, kwargs = tf.nest.pack_sequence_as(_arguments(node), leaves)
    if hasattr(node, "arguments"):
        node.arguments = type(node.arguments)(*args, **kwargs)
        return
    node.call_args, node.call_kwargs = args, dict(zip(node.call_kwargs, kwargs, strict=True))
    node._flat_arguments = leaves
    indices = [index for index, leaf in enumerate(leaves) if hasattr(leaf, "_keras_history")]
    node._keras_inputs = [leaves[index] for index in indices]
    node.flat_input_ids = [str(id(tensor)) for tensor in node._keras_inputs]
    node._keras_inputs_ids_and_indices = [*zip(node.flat_input_ids, indices, strict=True)]
    for key in node.flat_input_ids:
        model._tensor_usage_count[key] += 1


def _end_changes(number: int, model: Any) -> Changes:
    for end in ("inputs", "outputs"):
        nested = f"_{end}_struct" if hasattr(model, "_outputs_struct") else f"_nested_{end}"
        tensors = list(getattr(model, end) or ())
        if len(tensors) > 1:
            others = tf.nest.pack_sequence_as(getattr(model, nested), tensors[::-1])
            names = {f"_{end}" if hasattr(model, f"_{end}") else end: tensors[::-1], nested: others}
            yield f"graph {number}: the order of {end}", partial(vars(model).update, names)


def _weight_changes(scene: Scene) -> Changes:
    for number, (weight, other) in enumerate(zip(scene.model.weights, scene.other.weights, strict=True)):
        if not hasattr(weight, "assign"):  # the vocabulary of a lookup in tf_keras cannot be assigned
            continue
        value, others = np.array(weight), np.array(other)
        changes: dict[str, Callable[[], object]] = {}
        begins_by_chance = scene.is_clone and len(np.unique(value)) > 1
        if value.dtype.kind == "f" and not begins_by_chance:
            changes["another value"] = partial(weight.assign, value + 1)
        elif value.shape == others.shape and begins_by_chance:
            changes["the value of the original"] = partial(weight.assign, others)
        of_keras_3, constraint = hasattr(weight, "path"), None if weight.constraint else tf.nn.relu
        names = {"_name": "other", "_path": "other"} if of_keras_3 else {"_handle_name": "other:0"}
        changes["name"] = partial(vars(weight).update, names)
        changes["constraint"] = partial(setattr, weight, "_constraint", constraint)
        trainable = "trainable" if of_keras_3 else "_trainable"
        changes["trainable"] = partial(setattr, weight, trainable, not weight.trainable)
        if of_keras_3:
            regularizer = None if weight.regularizer else tf.nn.l2_loss
            changes["regularizer"] = partial(setattr, weight, "_regularizer", regularizer)
        yield from ((f"weights[{number}]: {text}", change) for text, change in changes.items())
    for item in scene.objects:
        for name in (
            "_trainable_variables",
            "_trainable_weights",
            "_non_trainable_variables",
            "_non_trainable_weights",
        ):
            held = getattr(item, "__dict__", {}).get(name) or []
            if len(held) > 1 and hasattr(item, "call"):
                yield f"{item.name}.{name}: reversed", partial(list.reverse, held)


_ONE_BY_ONE = ("alias", "reference", "dropped", "swapped", "value", "array", "dtype", "class", "function")
OPERATORS: dict[str, Callable[[Scene], Changes]] = {
    **{name: _at_places(name) for name in _ONE_BY_ONE},
    "graph": _graph_changes,
    "weight": _weight_changes,
    "compiled": _at_places(of_training=True),
    # These change the original.
    "original alias": _at_places("alias", "reference"),
    "original dropped": _at_places("dropped", "swapped", "class"),
    "original value": _at_places("value", "array", "dtype"),
    "original function": _at_places("function"),
    "original weight": _weight_changes,
    "original compiled": _at_places(of_training=True),
}


def scenes(original: Any, clone: Any) -> dict[bool, Scene]:
    """Return the scenes of the clone (False) and of the original (True)."""
    return {False: Scene(clone, original, is_clone=True), True: Scene(original, clone, is_clone=False)}


def changes(operator: str, scene: Scene) -> dict[str, Callable[[], object]]:
    """Return the changes that an operator makes, by description."""
    if operator == "compiled" and package(scene.model) == "tf_keras":
        return {}  # `clone_model` of tf_keras does not compile the clone
    return dict(OPERATORS[operator](scene))
