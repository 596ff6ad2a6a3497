"""Lists a release's layers, functions and other classes, with their parameters."""

from __future__ import annotations

import functools
import importlib
import inspect
import os
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

from clonediff.harness.inside.cloners.users import import_from
from clonediff.harness.inside.frameworks.interface import Framework
from clonediff.harness.inside.packages import KERAS, package_of


def signatures(framework: Framework) -> dict[str, Any]:
    keras = framework.keras
    layers: dict[str, Any] = {}
    for name, layer in sorted(vars(keras.layers).items()):
        # Skip aliases: AvgPool1D is AveragePooling1D.
        is_layer = isinstance(layer, type) and issubclass(layer, keras.layers.Layer)
        if is_layer and (name == layer.__name__ or vars(keras.layers).get(layer.__name__) is not layer):
            layers[name] = _layer_signature(layer, keras)
    functions = _keras_functions(keras) if hasattr(keras, "ops") else _tensorflow_functions()
    return {"layers": layers, "functions": functions, "objects": _class_signatures(keras)}


# Modules whose classes are drawn, except bases and classes that need other objects.
_CLASS_MODULES = {
    "optimizers": ("Optimizer", "OptimizerMap", "MultiOptimizer"),
    "optimizers.schedules": ("LearningRateSchedule",),
    "losses": ("Loss",),
    "metrics": ("Metric", "Mean", "Sum", "MeanTensor"),
    "initializers": ("Initializer",),
    "regularizers": ("Regularizer",),
    "constraints": ("Constraint",),
}


def _class_signatures(keras: Any) -> dict[str, Any]:
    parameters = {}
    for path, excluded_names in _CLASS_MODULES.items():
        module = functools.reduce(getattr, path.split("."), keras)
        for name, cls in sorted(vars(module).items()):
            if isinstance(cls, type) and cls.__name__ == name and name not in excluded_names:
                parameters[path + "." + name] = parameters_of(cls, keras)
    return parameters


def _keras_functions(keras: Any) -> dict[str, Any]:
    """The functions of `keras.ops` that take a symbolic tensor, with their parameters."""
    functions = {}
    for prefix, module in (("ops.", keras.ops), ("ops.image.", keras.ops.image)):
        for name, function in sorted(vars(module).items()):
            if not name.startswith("_") and inspect.isfunction(function) and _makes_an_operation(function):
                functions[prefix + name] = _parameters(function)
    return functions


def _makes_an_operation(function: Any) -> bool:
    """Whether a function makes an operation, directly or in a call."""
    names = inspect.unwrap(function).__code__.co_names
    values = [function.__globals__.get(name) for name in names]
    codes = [value.__code__ for value in values if inspect.isfunction(value)]
    return "symbolic_call" in {*names, *(name for code in codes for name in code.co_names)} or any(
        hasattr(value, "symbolic_call") for value in values
    )


def _tensorflow_functions() -> dict[str, Any]:
    tensorflow = sys.modules.get("tensorflow")
    functions: dict[str, Any] = {}
    for prefix in ("", "math.", "nn.", "linalg.", "image.") if tensorflow is not None else ():
        module = getattr(tensorflow, prefix[:-1]) if prefix else tensorflow
        for name in dir(module):
            function = getattr(module, name, None)
            if inspect.isfunction(function):
                functions["tf." + prefix + name] = _parameters(function)
    return functions


def _parameters(function: Any, start: int = 0) -> list[dict[str, Any]]:
    parameters = list(inspect.signature(function).parameters.values())[start:]
    return [_record_of(parameter) for parameter in parameters if parameter.kind is not parameter.VAR_KEYWORD]


def _record_of(parameter: inspect.Parameter) -> dict[str, Any]:
    """A parameter as JSON. A default that JSON cannot express is None."""
    is_variadic = parameter.kind is parameter.VAR_POSITIONAL
    data: dict[str, Any] = {"name": "*" + parameter.name if is_variadic else parameter.name}
    if parameter.default is not parameter.empty:
        data["default"] = _json_value(parameter.default)
    elif not is_variadic:
        data["required"] = True
    return data


def _json_value(value: Any) -> Any:
    if type(value) in (list, tuple):
        return type(value)(map(_json_value, value))
    return value if type(value) in (bool, int, float, str) else None


def _layer_signature(layer: Any, keras: Any) -> dict[str, Any]:
    return {"constructor": parameters_of(layer, keras), "call": _parameters(layer.call, 1)}


def parameters_of(cls: Any, keras: Any, needs_listing: Callable[[Any], bool] | None = None) -> list[dict[str, Any]]:
    """The parameters of a constructor, and of base constructors that get its `**kwargs`.

    Required parameters of Keras' private bases are left out, since subclasses pass them. So are parameters that
    the docstring of `cls` does not list, if `needs_listing(base)`; by default, if `cls` is Keras' own.
    """
    arguments: dict[str, dict[str, Any]] = {}
    names: set[str] = set()
    listed_names = re.findall(r"^\s*`?(\w+)`?:", cls.__doc__ or "", re.MULTILINE)
    for base in cls.__mro__:
        if "__init__" not in vars(base) or base is object:
            continue
        parameters = list(inspect.signature(base.__init__).parameters.values())[1:]
        is_private = base is not cls and package_of(base) in KERAS and base not in vars(keras.layers).values()
        only_listed = bool(arguments) and (needs_listing(base) if needs_listing else package_of(cls) in KERAS)
        for parameter in parameters:
            name = parameter.name
            is_hidden = name in names or name.startswith("_") or (is_private and parameter.default is parameter.empty)
            if not is_hidden and parameter.kind not in _VARIADIC_KINDS and (not only_listed or name in listed_names):
                arguments.setdefault(name, _record_of(parameter))
        names |= _names_in(base.__init__)
        if base is keras.layers.Layer or not any(parameter.kind in _VARIADIC_KINDS for parameter in parameters):
            break
    return list(arguments.values())


def _names_in(constructor: Any) -> set[str]:
    """The names of a constructor's variables, and the strings in its code."""
    code = inspect.unwrap(constructor).__code__
    constants = [value if isinstance(value, tuple) else (value,) for value in code.co_consts]
    return {*code.co_varnames, *(item for items in constants for item in items if isinstance(item, str))}


_VARIADIC_KINDS = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)


# -- layers of the user


def user_layers(names: list[str], framework: Framework) -> dict[str, Any]:
    """Signatures of layers, named as modules, files or "path/to/file.py:Class"."""
    keras = framework.keras
    layers: dict[str, Any] = {}
    for name in names:
        user_signatures = {
            path: _layer_signature(layer, keras) for path, layer in members_named(name) if _is_user_layer(layer, keras)
        }
        if not user_signatures:
            raise ValueError(f"{name}: expected a layer of {keras.__name__}, or a module or file with layers")
        layers.update(user_signatures)
    return layers


def _is_user_layer(layer: Any, keras: Any) -> bool:
    is_layer = isinstance(layer, type) and issubclass(layer, keras.layers.Layer)
    return is_layer and not issubclass(layer, keras.Model) and layer not in vars(keras.layers).values()


def members_named(name: str) -> Iterator[tuple[str, Any]]:
    """Yield a module's or file's members, or one member, each with its full name."""
    path, colon, member = name.partition(".py:")
    if colon or name.endswith(".py"):
        path = path.removesuffix(".py")
        folder, file = os.path.split(path)
        module = import_from(file, os.path.abspath(folder))
        prefix = path + ".py:"
        names = [key for key, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__]
    else:
        try:
            module = importlib.import_module(name)
            prefix = name + "."
        except ModuleNotFoundError:
            package, _, member = name.rpartition(".")
            if not package:
                raise
            module, prefix = importlib.import_module(package), package + "."
        names = [key for key in dir(module) if not key.startswith("_")]
    for key in [member] if member else sorted(names):
        yield prefix + key, getattr(module, key)
