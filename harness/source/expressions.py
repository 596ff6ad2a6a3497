"""The text of values and of constructors, and what stands above a model for them: imports, definitions, names.

Owns which names are taken. Every string that a graph holds is written as a literal, every other word is one of the
catalogue's, so that a graph from a file cannot write code.
"""

from __future__ import annotations

import keyword
from pathlib import Path

from clonediff.harness.source.custom import CLASSES
from clonediff.harness.source.dialect import Dialect
from clonediff.harness.source.forms import write_form
from clonediff.harness.source.functions import REGISTERED, write_function
from clonediff.harness.source.other_layers import check_allowed, class_name_of, file_of, is_other, write_loading
from clonediff.harness.source.tensors import Words
from clonediff.harness.source.words import (
    array_literal,
    dotted,
    dtype_literal,
    identifier,
    literal,
    snake,
    tuple_literal,
)
from clonediff.strategies.graph import Array, Form, Function, Items, Layer, Made, MalformedGraph, Named, Ref, Seq, Value
from clonediff.strategies.kinds.arguments import OF_NUMPY, PATHS
from clonediff.strategies.kinds.not_drawn import NOT_DRAWN
from clonediff.strategies.kinds.objects import is_object
from clonediff.strategies.preparations import PATHS as OF_PREPARATIONS

_RESERVED = frozenset(
    (
        *("model", "inputs", "data", "folder", "keras", "layers", "ops", "tf", "np", "tempfile", "functools", "x", "K"),
        *("sys", "importlib", "spec", "clone_function", "call_function", "clone_model"),
    )
)


class Expressions:
    """The expressions so far, by what is defined and imported for them."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self.custom_scope = ""
        self.unregistered = ""
        self.forms: dict[Form, str] = {}
        self.later: list[str] = []
        self.needs = {"keras"}
        self.imports: set[str] = set()
        self.files: dict[str, str] = {}
        self.definitions: list[str] = []
        self.defined: set[str] = set()
        self.taken = set(_RESERVED)

    def name(self, wanted: str) -> str:
        """A name that nothing else has: `wanted`, or that with a number."""
        name, count = wanted, 1
        while name in self.taken or keyword.iskeyword(name):
            count += 1
            name = f"{wanted}_{count}"
        self.taken.add(name)
        return name

    def need(self, text: str) -> str:
        for name in self.dialect.imports:
            if f"{name}." in text:
                self.needs.add(name)
        return text

    def define(self, text: str) -> None:
        if text and text not in self.defined:
            self.defined.add(text)
            self.definitions.append(self.need(text))

    def plain(self, value: Value) -> str:
        """The text of a value in which there is no tensor."""
        return self.value(value, None)

    def value(self, value: Value, tensors: Words | None) -> str:
        match value:
            case None | bool() | int():
                return repr(value)
            case float():
                return repr(value) if value == value and abs(value) != float("inf") else f'float("{value}")'
            case str():
                return literal(value)
            case Ref():
                if tensors is None:
                    raise MalformedGraph("layers: a tensor cannot be an argument of a constructor")
                return tensors(value)
            case Seq(items=items, form=form):
                words = [self.value(item, tensors) for item in items]
                return tuple_literal(words) if form == "tuple" else f"[{', '.join(words)}]"
            case Items(items=pairs):
                return f"{{{', '.join(f'{literal(key)}: {self.value(item, tensors)}' for key, item in pairs)}}}"
            case Array():
                self.needs.add("np")
                text = array_literal(value)
                return self.need(self.dialect.spell(f"ops.convert_to_tensor({text})")) if value.tensor else text
            case Function():
                written = write_function(value, self.name)
                self.define(self.dialect.spell(written.definition))
                return self.need(written.expression)
            case Form():
                return self._form(value)
            case Made():
                return self.layer(value.layer)
            case Named(path=path, args=args):
                if args is None and self.custom_scope.endswith(f": {path}}})"):
                    return path
                if path not in PATHS | OF_PREPARATIONS | OF_NUMPY and not is_object(path):
                    raise MalformedGraph(f"value: {path!r} is nothing of Keras that a graph can name")
                words = [f"{identifier(key)}={self.value(item, tensors)}" for key, item in args or ()]
                name = self.need(path if path in OF_NUMPY else f"keras.{path}")
                return name if args is None else f"{name}({', '.join(words)})"
        raise MalformedGraph(f"value: {value!r} cannot be written")

    def _form(self, form: Form) -> str:
        """A function or an object in a form: what is defined for it is defined once, however often it is given."""
        if form not in self.forms:
            written = write_form(form, self.name)
            self.define(self.dialect.spell(written.definition))
            self.forms[form] = self.dialect.spell(written.expression)
            self.later += [written.then] if written.then else []
        return self.need(self.forms[form])

    def layer(self, layer: Layer) -> str:
        """The constructor's call."""
        cls = self.class_of(layer.kind)
        parts = self._positional(layer)
        if layer.name is not None:
            parts.append(f"name={literal(layer.name)}")
        if not layer.trainable:
            parts.append("trainable=False")
        if layer.dtype is not None:
            parts.append(
                f"dtype={dtype_literal(layer.dtype) if isinstance(layer.dtype, str) else self.value(layer.dtype, None)}"
            )
        return f"{cls}({', '.join(parts)})"

    def _positional(self, layer: Layer) -> list[str]:
        """Arguments as people write them: the first one without its name where it says what the layer is."""
        parts = []
        for place, (key, value) in enumerate(layer.args):
            text = self.value(value, None)
            first = place == 0 and (key in _FIRST or layer.kind == "Sequential")
            parts.append(text if first else f"{identifier(key)}={text}")
        return parts

    def class_of(self, kind: str) -> str:
        if kind in NOT_DRAWN:
            raise MalformedGraph(f"layers: {kind} is not written: {NOT_DRAWN[kind]}")
        if kind not in CLASSES:
            if is_other(kind):
                return self._other(kind)
            return self.need("keras.Sequential" if kind == "Sequential" else f"layers.{identifier(kind)}")
        if kind not in self.dialect.classes:
            raise MalformedGraph(f"layers: {kind} cannot be written for {self.dialect.name}")
        self.needs.add("layers")
        text = self.dialect.classes[kind]
        self.define(self.dialect.spell(text.removeprefix(REGISTERED) if kind == self.unregistered else text))
        return kind

    def _other(self, kind: str) -> str:
        """A class that is not Keras' own; its module is imported, or its file loaded."""
        check_allowed(kind)
        path = file_of(kind)
        if not path:
            return f"{self._module(dotted(kind.rpartition('.')[0]))}.{identifier(class_name_of(kind))}"
        if path not in self.files:
            self.files[path] = self.name(snake(Path(path).stem))
        self.imports.update(("import importlib.util", "import sys"))
        self.define(write_loading(self.files[path], path))
        return f"{self.files[path]}.{identifier(class_name_of(kind))}"

    def _module(self, name: str) -> str:
        """The variable of a module that is imported. Its package may not have it as an attribute."""
        if name not in self.files:
            self.files[name] = self.name("_".join(name.split(".")[-2:]))
        variable = self.files[name]
        self.imports.add(f"import {name}" if variable == name else f"import {name} as {variable}")
        return variable


_FIRST = frozenset(
    (
        *("units", "function", "activation", "target_shape", "dims", "n"),
        *("rate", "filters", "layer", "cell", "input_dim", "stddev"),
    )
)
