"""What a release has: layers, functions and other classes, with the parameters of their signatures."""

from __future__ import annotations

import functools
import importlib
import inspect
import os
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

from clonediff.harness.inside.cloners.users import imported
from clonediff.harness.inside.frameworks.interface import Framework
from clonediff.harness.inside.packages import KERAS, root_of


def signatures(framework: Framework) -> dict[str, Any]:
    keras = framework.keras
    layers: dict[str, Any] = {}
    for name, layer in sorted(vars(keras.layers).items()):
        # AvgPool1D is there under the name of its class too, AveragePooling1D.
        is_layer = isinstance(layer, type) and issubclass(layer, keras.layers.Layer)
        if is_layer and (name == layer.__name__ or vars(keras.layers).get(layer.__name__) is not layer):
            layers[name] = signature(layer, keras)
    functions = _of_keras(keras) if hasattr(keras, "ops") else _of_tensorflow()
    return {"layers": layers, "functions": functions, "objects": _objects(keras)}


# The modules of these classes, and those in each that are there to be derived from, or are of no use alone.
_OBJECTS = {
    "optimizers": ("Optimizer", "OptimizerMap", "MultiOptimizer"),
    "optimizers.schedules": ("LearningRateSchedule",),
    "losses": ("Loss",),
    "metrics": ("Metric", "Mean", "Sum", "MeanTensor"),
    "initializers": ("Initializer",),
    "regularizers": ("Regularizer",),
    "constraints": ("Constraint",),
}


def _objects(keras: Any) -> dict[str, Any]:
    """The classes that a model is compiled with, and layers are given, as "losses.Huber", with what they take."""
    objects = {}
    for place, without in _OBJECTS.items():
        module = functools.reduce(getattr, place.split("."), keras)
        for name, kind in sorted(vars(module).items()):
            if isinstance(kind, type) and kind.__name__ == name and name not in without:
                objects[place + "." + name] = constructor(kind, keras)
    return objects


def _of_keras(keras: Any) -> dict[str, Any]:
    """The functions of `keras.ops` that take a symbolic tensor, by their names, with their parameters."""
    functions = {}
    for prefix, module in (("ops.", keras.ops), ("ops.image.", keras.ops.image)):
        for name, function in sorted(vars(module).items()):
            if not name.startswith("_") and inspect.isfunction(function) and _makes_an_operation(function):
                functions[prefix + name] = _signature(function)
    return functions


def _makes_an_operation(function: Any) -> bool:
    """Whether a function of Keras makes an operation of symbolic tensors, itself or by another that it calls."""
    names = inspect.unwrap(function).__code__.co_names
    things = [function.__globals__.get(name) for name in names]
    codes = [thing.__code__ for thing in things if inspect.isfunction(thing)]
    return "symbolic_call" in {*names, *(name for code in codes for name in code.co_names)} or any(
        hasattr(thing, "symbolic_call") for thing in things
    )


def _of_tensorflow() -> dict[str, Any]:
    """The functions of TensorFlow that a model of its Keras may use, by their names, with their parameters."""
    tensorflow = sys.modules.get("tensorflow")
    functions: dict[str, Any] = {}
    for place in ("", "math.", "nn.", "linalg.", "image.") if tensorflow is not None else ():
        module = getattr(tensorflow, place[:-1]) if place else tensorflow
        for name in dir(module):
            function = getattr(module, name, None)
            if inspect.isfunction(function):
                functions["tf." + place + name] = _signature(function)
    return functions


def _signature(function: Any, first: int = 0) -> list[dict[str, Any]]:
    parameters = list(inspect.signature(function).parameters.values())[first:]
    return [as_data(parameter) for parameter in parameters if parameter.kind is not parameter.VAR_KEYWORD]


def as_data(parameter: inspect.Parameter) -> dict[str, Any]:
    """A parameter as data; a default that is no plain value is None."""
    any_number = parameter.kind is parameter.VAR_POSITIONAL
    data: dict[str, Any] = {"name": "*" + parameter.name if any_number else parameter.name}
    if parameter.default is not parameter.empty:
        data["default"] = _plain(parameter.default)
    elif not any_number:
        data["required"] = True
    return data


def _plain(value: Any) -> Any:
    if type(value) in (list, tuple):
        return type(value)(map(_plain, value))
    return value if type(value) in (bool, int, float, str) else None


def signature(layer: Any, keras: Any) -> dict[str, Any]:
    return {"constructor": constructor(layer, keras), "call": _signature(layer.call, 1)}


def constructor(kind: Any, keras: Any, documented: Callable[[Any], bool] | None = None) -> list[dict[str, Any]]:
    """The arguments that a constructor names, and where it hands others on, those of its base.

    What a base needs that Keras has for itself is given to it by the classes made of it. Of a base that is to be
    `documented`, an argument counts if the class documents it; without that, they are those of a class of Keras. A seed
    of an LSTM is not documented.
    """
    arguments: dict[str, dict[str, Any]] = {}
    words: set[str] = set()
    documents = re.findall(r"^\s*`?(\w+)`?:", kind.__doc__ or "", re.MULTILINE)
    for base in kind.__mro__:
        if "__init__" not in vars(base) or base is object:
            continue
        parameters = list(inspect.signature(base.__init__).parameters.values())[1:]
        private = base is not kind and root_of(base) in KERAS and base not in vars(keras.layers).values()
        only_documented = bool(arguments) and (documented(base) if documented else root_of(kind) in KERAS)
        for parameter in parameters:
            name = parameter.name
            hidden = name in words or name.startswith("_") or (private and parameter.default is parameter.empty)
            if not hidden and parameter.kind not in _OTHERS and (not only_documented or name in documents):
                arguments.setdefault(name, as_data(parameter))
        words |= _words_of(base.__init__)
        if base is keras.layers.Layer or not any(parameter.kind in _OTHERS for parameter in parameters):
            break
    return list(arguments.values())


def _words_of(constructor: Any) -> set[str]:
    """The names that a constructor has words for: of its variables, and of what it gives to its base by name."""
    code = inspect.unwrap(constructor).__code__
    constants = [value if isinstance(value, tuple) else (value,) for value in code.co_consts]
    return {*code.co_varnames, *(word for words in constants for word in words if isinstance(word, str))}


_OTHERS = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)


# -- layers that are not Keras' own


def other_layers(names: list[str], framework: Framework) -> dict[str, Any]:
    """What the layers take that have these names: of a module, a class in one, a file, or "path/to/file.py:Class"."""
    keras = framework.keras
    layers: dict[str, Any] = {}
    for name in names:
        signatures = {kind: signature(layer, keras) for kind, layer in named(name) if _counts(layer, keras)}
        if not signatures:
            raise ValueError(f"{name}: expected a layer of {keras.__name__}, or a module or file that has some")
        layers.update(signatures)
    return layers


def _counts(layer: Any, keras: Any) -> bool:
    is_layer = isinstance(layer, type) and issubclass(layer, keras.layers.Layer)
    return is_layer and not issubclass(layer, keras.Model) and layer not in vars(keras.layers).values()


def named(name: str) -> Iterator[tuple[str, Any]]:
    """The objects that a name stands for, each with a name of its own."""
    path, colon, part = name.partition(".py:")
    if colon or name.endswith(".py"):
        path = path.removesuffix(".py")
        folder, file = os.path.split(path)
        module, prefix = imported(file, os.path.abspath(folder)), path + ".py:"
        members = [key for key, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__]
    else:
        try:
            module, prefix = importlib.import_module(name), name + "."
        except ModuleNotFoundError:
            package, _, part = name.rpartition(".")
            if not package:
                raise
            module, prefix = importlib.import_module(package), package + "."
        members = [key for key in dir(module) if not key.startswith("_")]
    for key in [part] if part else sorted(members):
        yield prefix + key, getattr(module, key)
