"""From a graph to the script that builds its model: the only way in which a model is made.

Owns the order of lines, the names and the text of values. A line a call; a layer that is called several times, or that
something is done to, is named once. Every string that a graph holds is written as a literal, every other word is one of
the catalogue's, so that a graph from a file cannot write code.
"""

from __future__ import annotations

import builtins
import json
import keyword
import re

from msgspec import structs

from harness.source.custom import CLASSES
from harness.source.dialect import Dialect, InputWords
from harness.source.functions import KEYS, write_function
from harness.source.operations import write_operation
from strategies.graph import (
    Array,
    Call,
    Function,
    Graph,
    Input,
    Items,
    Layer,
    Made,
    MalformedGraph,
    Named,
    Ref,
    Seq,
    Value,
    refs,
)
from strategies.kinds import CATALOGUE
from strategies.kinds.arguments import PATHS
from strategies.kinds.operations import Operation

_WORD = re.compile(r"[a-z_][a-z0-9_]*", re.IGNORECASE)
_DTYPE = re.compile(r"[a-z0-9_]+")
_RESERVED = frozenset(("model", "inputs", "keras", "layers", "ops", "tf", "np", "functools", "x", "K"))


def write(graph: Graph, dialect: Dialect) -> str:
    """The script that builds the graph's model and leaves it in `model`."""
    script = _Script(dialect)
    script.model(graph, "model", "")
    return script.text()


class _Script:
    """The lines so far: what must be imported, what is defined above the model, the model."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self.needs = {"keras"}
        self.definitions: list[str] = []
        self.defined: set[str] = set()
        self.lines: list[str] = []
        self.taken = set(_RESERVED)

    def text(self) -> str:
        imports = [line for name, line in self.dialect.imports.items() if name in self.needs]
        plain = [line for line in imports if line.startswith("import")]
        others = [line for line in imports if not line.startswith("import")]
        head = "\n".join((*plain, *others))
        if not self.definitions:
            return "\n".join((head, "", *self.lines, ""))
        short = [text for text in self.definitions if "\n" not in text.rstrip("\n")]
        long = [text for text in self.definitions if "\n" in text.rstrip("\n")]
        above = "".join(f"\n{text}" for text in short) + "".join(f"\n\n{text}" for text in long)
        return f"{head}\n{above}\n" + ("\n" if long else "") + "\n".join((*self.lines, ""))

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

    def model(self, graph: Graph, variable: str, stem: str) -> None:
        """The lines of a model, and of the models in it before it."""
        if graph.sequential:
            self._sequential(graph, variable)
            return
        tensors = _Tensors(self, graph, stem)
        for number, given in enumerate(graph.inputs):
            self.lines.append(f"{tensors.inputs[number]} = {self._input(given, self.dialect.input)}")
        made: dict[int, str] = {}
        uses = [call.layer for call in graph.calls]
        for number, call in enumerate(graph.calls):
            self._call(graph, number, call, tensors, made, uses.count(call.layer) > 1)
        name = "" if graph.name is None else f", name={_text(graph.name)}"
        ends = f"{self.value(graph.takes, tensors)}, {self.value(graph.gives, tensors)}"
        self.lines.append(f"{variable} = {self.need('keras.Model')}({ends}{name})")
        if not graph.trainable:
            self.lines.append(f"{variable}.trainable = False")

    def _sequential(self, graph: Graph, variable: str) -> None:
        """A chain: its input, then each layer in the order of the calls."""
        parts = [self._input(graph.inputs[0], self.dialect.first)]
        for call in graph.calls:
            layer = graph.layers[call.layer]
            needs_name = bool(layer.marks) or layer.graph is not None
            parts.append(self._made(layer, needs_name))
        name = "" if graph.name is None else f", name={_text(graph.name)}"
        self.lines.append(f"{variable} = keras.Sequential([{', '.join(parts)}]{name})")
        if not graph.trainable:
            self.lines.append(f"{variable}.trainable = False")

    def _input(self, given: Input, words: InputWords) -> str:
        if given.batch is not None and words.whole:
            parts = [f"{words.whole}={_tuple((given.batch, *given.shape))}"]
        else:
            parts = [f"{words.shape}={_tuple(given.shape)}"]
            parts += [f"batch_size={given.batch}"] if given.batch is not None else []
        if given.dtype != "float32":
            parts.append(f"dtype={_dtype(given.dtype)}")
        if given.optional:
            parts.append("optional=True")
        if given.name is not None:
            parts.append(f"name={_text(given.name)}")
        return f"{self.need(words.function)}({', '.join(parts)})"

    def _call(
        self, graph: Graph, number: int, call: Call, tensors: _Tensors, made: dict[int, str], shared: bool
    ) -> None:
        layer = graph.layers[call.layer]
        target = tensors.target(number, layer)
        if layer.graph is None and _family(layer) == "operations":
            self.lines.append(f"{target} = {self._operation(layer, call, tensors, number)}")
            return
        if call.layer not in made:
            needs_name = shared or bool(layer.marks) or layer.graph is not None
            made[call.layer] = self._made(layer, needs_name)
        words = [self.value(value, tensors) for value in call.args]
        words += [f"{_word(key)}={self.value(value, tensors)}" for key, value in call.kwargs]
        self.lines.append(f"{target} = {made[call.layer]}({', '.join(words)})")

    def _operation(self, layer: Layer, call: Call, tensors: _Tensors, number: int) -> str:
        kind = CATALOGUE[layer.kind]
        assert isinstance(kind, Operation)
        if not self.dialect.has(layer.kind):
            raise MalformedGraph(f"calls[{number}]: {layer.kind} cannot be written for {self.dialect.name}")
        words = [self.value(value, tensors) for value in (ref for item in call.args for ref in refs(item))]
        if not kind.takes[0] <= len(words) <= kind.takes[1] or call.kwargs:
            raise MalformedGraph(f"calls[{number}]: {layer.kind} takes {kind.takes[0]} tensors only")
        return self.need(write_operation(kind, layer, words, lambda value: self.value(value, None), self.dialect))

    def _made(self, layer: Layer, needs_name: bool) -> str:
        """The expression that makes a layer; with `needs_name`, a variable that holds it already."""
        if layer.graph is not None:
            variable = self.name(f"{_snake(layer.name or 'inner')}_model" if layer.name is None else _snake(layer.name))
            inner = layer.graph
            self.model(_named(inner, layer.name), variable, "inner_")
            if not layer.trainable:
                self.lines.append(f"{variable}.trainable = False")
            return variable
        text = self.layer(layer)
        if not needs_name:
            return text
        variable = self.name(f"{_snake(layer.kind)}_layer")
        self.lines.append(f"{variable} = {text}")
        if "frozen after" in layer.marks:
            self.lines.append(f"{variable}.trainable = False")
        if "supports_masking" in layer.marks:
            self.lines.append(f"{variable}.supports_masking = True")
        return variable

    def layer(self, layer: Layer) -> str:
        """The constructor's call."""
        if layer.kind in CLASSES:
            if layer.kind not in self.dialect.classes:
                raise MalformedGraph(f"layers: {layer.kind} cannot be written for {self.dialect.name}")
            self.needs.add("layers")
            self.define(self.dialect.spell(self.dialect.classes[layer.kind]))
            cls = layer.kind
        else:
            cls = self.need(f"layers.{_word(layer.kind)}")
        parts = self._positional(layer)
        if layer.name is not None:
            parts.append(f"name={_text(layer.name)}")
        if not layer.trainable:
            parts.append("trainable=False")
        if layer.dtype is not None:
            parts.append(
                f"dtype={_dtype(layer.dtype) if isinstance(layer.dtype, str) else self.value(layer.dtype, None)}"
            )
        return f"{cls}({', '.join(parts)})"

    def _positional(self, layer: Layer) -> list[str]:
        """Arguments as people write them: the first one without its name where it says what the layer is."""
        parts = []
        for place, (key, value) in enumerate(layer.args):
            text = self.value(value, None)
            first = place == 0 and key in _FIRST
            parts.append(text if first else f"{_word(key)}={text}")
        return parts

    def value(self, value: Value, tensors: _Tensors | None) -> str:
        match value:
            case None | bool() | int():
                return repr(value)
            case float():
                return repr(value) if value == value and abs(value) != float("inf") else f'float("{value}")'
            case str():
                return _text(value)
            case Ref():
                if tensors is None:
                    raise MalformedGraph("layers: a tensor cannot be an argument of a constructor")
                return tensors.word(value)
            case Seq(items=items, form=form):
                words = [self.value(item, tensors) for item in items]
                if form == "tuple":
                    return f"({words[0]},)" if len(words) == 1 else f"({', '.join(words)})"
                return f"[{', '.join(words)}]"
            case Items(items=pairs):
                return f"{{{', '.join(f'{_text(key)}: {self.value(item, tensors)}' for key, item in pairs)}}}"
            case Array():
                return self._array(value)
            case Function():
                written = write_function(value, self.name, self.dialect.trains)
                self.define(written.definition)
                return self.need(written.expression)
            case Made():
                return self.layer(value.layer)
            case Named(path=path, args=args):
                if path not in PATHS:
                    raise MalformedGraph(f"value: {path!r} is nothing of Keras that a graph can name")
                words = [f"{_word(key)}={self.value(item, tensors)}" for key, item in args or ()]
                return self.need(f"keras.{path}") + ("" if args is None else f"({', '.join(words)})")
        raise MalformedGraph(f"value: {value!r} cannot be written")

    def _array(self, array: Array) -> str:
        self.needs.add("np")
        size = 1
        for length in array.shape:
            size *= length
        shape = "" if len(array.shape) == 1 else f".reshape{_tuple(array.shape)}"
        if array.dtype == "bool":
            text = f"np.arange({size}){shape} % 3 != 2"
        elif "int" in array.dtype:
            text = f"np.arange({size}, dtype={_dtype(array.dtype)}){shape} % 2"
        else:
            text = f"np.arange(1, {size + 1}, dtype={_dtype(array.dtype)}){shape} / 2"
        whole = self.dialect.tensor.format(text, _dtype(array.dtype))
        return self.need(self.dialect.spell(whole)) if array.tensor else text


class _Tensors:
    """The words for a graph's tensors."""

    def __init__(self, script: _Script, graph: Graph, stem: str) -> None:
        self.script = script
        self.graph = graph
        self.words: dict[tuple[int, int], str] = {}
        single = len(graph.inputs) == 1
        self.inputs: list[str] = []
        for number, given in enumerate(graph.inputs):
            wanted = f"{stem}inputs" if single else f"{stem}{_snake(given.name or f'input_{number + 1}')}"
            word = wanted if wanted == "inputs" else script.name(wanted)
            self.inputs.append(word)
            self.words[number, 0] = word

    def word(self, ref: Ref) -> str:
        return self.words[ref.node, ref.output]

    def target(self, number: int, layer: Layer) -> str:
        """What stands left of the call, by how the layer gives its outputs back."""
        node = len(self.graph.inputs) + number
        count = self.graph.calls[number].outputs
        stem = _snake(layer.name or layer.kind.rpartition(".")[2])
        if hasattr(builtins, stem):
            stem = f"{stem}_output"
        container = _container(layer, count)
        if container == "one":
            self.words[node, 0] = self.script.name(stem)
            return self.words[node, 0]
        if container in ("dict", "fork"):
            word = self.script.name(stem)
            keys = KEYS if container == "dict" else ("left", "right")
            for output in range(count):
                self.words[node, output] = f'{word}["{keys[output]}"]'
            return word
        words = [self.script.name(f"{stem}_{KEYS[output]}" if output < 4 else stem) for output in range(count)]
        for output, word in enumerate(words):
            self.words[node, output] = word
        if container == "nested" and count > 1:
            return f"{words[0]}, [{', '.join(words[1:])}]"
        return f"[{words[0]}]" if count == 1 else ", ".join(words)


def _container(layer: Layer, count: int) -> str:
    if layer.kind == "ForkDict":
        return "fork"
    function = layer.arg("function")
    if isinstance(function, Function):
        return function.container
    return "one" if count == 1 else "list"


def _family(layer: Layer) -> str:
    kind = CATALOGUE.get(layer.kind)
    if kind is None:
        raise MalformedGraph(f"layers: expected a kind of the catalogue, found {layer.kind!r}")
    return kind.family


_FIRST = frozenset(
    (
        "units",
        "function",
        "activation",
        "target_shape",
        "dims",
        "n",
        "rate",
        "filters",
        "layer",
        "cell",
        "input_dim",
        "stddev",
    )
)


def _named(graph: Graph, name: str | None) -> Graph:
    return graph if name is None else structs.replace(graph, name=name)


def _snake(name: str) -> str:
    snake = re.sub(r"(?<=[a-z])(?=[A-Z0-9][A-Za-z])", "_", re.sub(r"\W", "_", name)).lower()
    return snake if _WORD.fullmatch(snake) else f"t_{snake}"


def _text(text: str) -> str:
    """A string literal in double quotes: JSON's are Python's too, but for what it would escape in halves."""
    return json.dumps(text, ensure_ascii=False)


def _word(name: str) -> str:
    if not _WORD.fullmatch(name) or keyword.iskeyword(name):
        raise MalformedGraph(f"argument: expected a name, found {name!r}")
    return name


def _dtype(dtype: str) -> str:
    if not _DTYPE.fullmatch(dtype):
        raise MalformedGraph(f"dtype: expected a word, found {dtype!r}")
    return f'"{dtype}"'


def _tuple(shape: tuple[int | None, ...]) -> str:
    return f"({shape[0]},)" if len(shape) == 1 else f"({', '.join(map(str, shape))})"
