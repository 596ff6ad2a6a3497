"""A functional model as plain data, and the rules that make it well formed.

Owns `Graph`, `Layer`, `Call`, `Input`, the values that arguments can hold, and their JSON. Must not import Keras,
Hypothesis or the catalogue: what a kind accepts is the catalogue's to say (`clonediff.strategies.asking`).

Tensors are numbered: node `n` is input `n` while `n < len(inputs)`, and otherwise call `n - len(inputs)`. A `Ref` names
one tensor that a node gives.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

VERSION = 1


class MalformedGraph(ValueError):
    """A graph that breaks one of the rules below. The message says where and what was expected."""


class Ref(msgspec.Struct, frozen=True, tag="ref", tag_field="is", omit_defaults=True):
    """The tensor `output` of node `node`."""

    node: int
    output: int = 0


class Seq(msgspec.Struct, frozen=True, tag="seq", tag_field="is", omit_defaults=True):
    """A list, or a tuple. Which of the two matters to Keras."""

    items: tuple[Value, ...]
    form: Literal["list", "tuple"] = "list"


class Items(msgspec.Struct, frozen=True, tag="dict", tag_field="is"):
    """A dict, in the order its keys were put in."""

    items: tuple[tuple[str, Value], ...]


class Array(msgspec.Struct, frozen=True, tag="array", tag_field="is", omit_defaults=True):
    """An array whose numbers follow from its shape: 1, 2, 3 ... halved; ints 0, 1, 0 ...; bools, every third False.

    It is NumPy's, or with `tensor` the framework's.
    """

    shape: tuple[int, ...]
    dtype: str = "float32"
    tensor: bool = False


class Function(msgspec.Struct, frozen=True, tag="function", tag_field="is", omit_defaults=True):
    """What a `Lambda` wraps, or takes as its mask or its output shape.

    `form` says how the function is written (see `clonediff.strategies.kinds.lambdas` and
    `clonediff.harness.source.functions`), `gives` the expressions it returns, one for each output, and `container` what
    they are returned in.
    """

    form: str
    gives: tuple[str, ...]
    container: Literal["one", "list", "tuple", "dict", "nested"] = "one"
    takes: int = 1


class Form(msgspec.Struct, frozen=True, tag="form", tag_field="is"):
    """A function or an object as one gives it to a layer: what `sort` of thing it is, and in which `form` it is given.

    Both are keys of a table (`clonediff.strategies.kinds.forms`); `clonediff.harness.source.forms` writes them.
    """

    sort: str
    form: str


class Made(msgspec.Struct, frozen=True, tag="layer", tag_field="is"):
    """A layer as an argument of another: the LSTM in a Bidirectional, a cell in an RNN."""

    layer: Layer


class Named(msgspec.Struct, frozen=True, tag="named", tag_field="is", omit_defaults=True):
    """A class or a function of Keras by its name; with `args`, what the class makes of them."""

    path: str
    args: tuple[tuple[str, Value], ...] | None = None


class Layer(msgspec.Struct, frozen=True, omit_defaults=True):
    """A layer with its arguments, an operation, or, where `graph` is given, a model.

    `dtype` is one, or a policy by its name, as its config or as an object. `marks` are what is done to it once it is
    made: "frozen after", "supports_masking", or "attributes", that functions and objects are set then which its
    constructor takes.
    """

    kind: str
    args: tuple[tuple[str, Value], ...] = ()
    name: str | None = None
    trainable: bool = True
    dtype: str | Named | Items | Form | None = None
    graph: Graph | None = None
    marks: tuple[str, ...] = ()

    def arg(self, name: str, default: Value = None) -> Value:
        return next((value for key, value in self.args if key == name), default)


class Call(msgspec.Struct, frozen=True, omit_defaults=True):
    """One use of a layer. `outputs` is how many tensors it gives, in a container that the layer decides."""

    layer: int
    args: tuple[Value, ...] = ()
    kwargs: tuple[tuple[str, Value], ...] = ()
    outputs: int = 1

    @property
    def listed(self) -> bool:
        """Whether its tensors are in a list."""
        return len(self.args) == 1 and isinstance(self.args[0], Seq)


class Input(msgspec.Struct, frozen=True, omit_defaults=True):
    """An input. `shape` is without the batch, None where it is left open; `fill` says what its values are like."""

    shape: tuple[int | None, ...]
    dtype: str = "float32"
    name: str | None = None
    optional: bool = False
    fill: Literal["normal", "steps", "ids", "mask", "words"] = "normal"
    high: int | None = None


NewInputs: TypeAlias = Literal["", "fresh", "listed", "layers", "own"]


class CloneArguments(msgspec.Struct, frozen=True, omit_defaults=True):
    """What `clone_model` is given beside a model.

    `inputs` says what its `input_tensors` are: none, new inputs, these in a list, as `InputLayer`s, or the model's own.
    A `call_function` calls each layer as it was called.
    """

    inputs: NewInputs = ""
    call_function: bool = False
    recursive: bool = False


class Preparation(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something that is done to a model before it is cloned: to its first layer of `kind`, or to the model itself.

    `does` is one of `clonediff.strategies.preparations.PREPARATIONS`, `args` what it takes.
    """

    does: str
    kind: str | None = None
    args: tuple[tuple[str, Value], ...] = ()


class CustomClass(msgspec.Struct, frozen=True, omit_defaults=True):
    """A custom class that a model is of.

    It inherits its constructor, or has one that takes an "option", which is in the config.
    """

    makes: Literal["", "option"] = ""


class Graph(msgspec.Struct, frozen=True, omit_defaults=True, cache_hash=True):
    """A model: a functional one, or with `sequential` a chain of layers.

    `takes` and `gives` are the model's inputs and outputs as they are nested, with a `Ref` at each leaf. `batch` is the
    number of rows it is run on; `generation` the Keras it was drawn for, if only one builds it. `clone_arguments` are
    what `clone_model` is given beside it, None for nothing. `preparations` are what is done to the model, in this
    order, before it is cloned. A model may be of a `custom_class`.
    """

    inputs: tuple[Input, ...]
    layers: tuple[Layer, ...]
    calls: tuple[Call, ...]
    takes: Value
    gives: Value
    name: str | None = None
    trainable: bool = True
    sequential: bool = False
    batch: int = 2
    generation: Literal["keras", "tf_keras"] | None = None
    clone_arguments: CloneArguments | None = None
    version: int = VERSION
    preparations: tuple[Preparation, ...] = ()
    custom_class: CustomClass | None = None

    def __post_init__(self) -> None:
        check(self)

    def outputs_of(self, node: int) -> int:
        return 1 if node < len(self.inputs) else self.calls[node - len(self.inputs)].outputs


Value: TypeAlias = bool | int | float | str | Ref | Seq | Items | Array | Function | Form | Made | Named | None


def leaves(value: Value) -> Iterator[Value]:
    """Everything in a value that holds no other value, from left to right; a made layer is one."""
    match value:
        case Seq(items=items):
            for item in items:
                yield from leaves(item)
        case Items(items=pairs):
            for _, item in pairs:
                yield from leaves(item)
        case _:
            yield value


def refs(value: Value) -> Iterator[Ref]:
    """Every tensor in a value, from left to right."""
    return (leaf for leaf in leaves(value) if isinstance(leaf, Ref))


def made_layers(layer: Layer) -> Iterator[Layer]:
    """The layers within a layer's arguments, and within theirs."""
    for _, value in layer.args:
        for leaf in leaves(value):
            if isinstance(leaf, Made):
                yield leaf.layer
                yield from made_layers(leaf.layer)


def levels(graph: Graph) -> Iterator[Graph]:
    """The graph, and the model of each layer in it that is one."""
    yield graph
    for layer in graph.layers:
        if layer.graph is not None:
            yield from levels(layer.graph)


def all_layers(graph: Graph) -> Iterator[Layer]:
    """Every layer, those in inner models and within arguments among them."""
    for level in levels(graph):
        for layer in level.layers:
            yield layer
            yield from made_layers(layer)


def fed_refs(call: Call) -> Iterator[Ref]:
    """Every tensor that a call is fed, those in its further arguments aside."""
    for value in call.args:
        yield from refs(value)


def call_refs(call: Call) -> Iterator[Ref]:
    """Every tensor that a call uses, in the order of its arguments."""
    yield from fed_refs(call)
    for _, value in call.kwargs:
        yield from refs(value)


def check(graph: Graph) -> None:
    """Raise `MalformedGraph` unless every number in the graph names something that is there, and came before."""
    if graph.version != VERSION:
        raise MalformedGraph(f"version: expected {VERSION}, found {graph.version}")
    if not graph.inputs:
        raise MalformedGraph("inputs: expected at least one input")
    for number, call in enumerate(graph.calls):
        place = f"calls[{number}]"
        if not 0 <= call.layer < len(graph.layers):
            raise MalformedGraph(f"{place}.layer: expected a number below {len(graph.layers)}, found {call.layer}")
        if call.outputs < 1:
            raise MalformedGraph(f"{place}.outputs: expected at least 1, found {call.outputs}")
        for ref in call_refs(call):
            _check_ref(graph, ref, len(graph.inputs) + number, place)
        if next(call_refs(call), None) is None:
            raise MalformedGraph(f"{place}: expected at least one tensor among the arguments")
    for ref in refs(graph.takes):
        if not 0 <= ref.node < len(graph.inputs) or ref.output:
            raise MalformedGraph(f"takes: expected inputs only, found node {ref.node}, output {ref.output}")
    if {ref.node for ref in refs(graph.takes)} != set(range(len(graph.inputs))):
        raise MalformedGraph(f"takes: expected each of {len(graph.inputs)} inputs")
    _check_tensors(graph, graph.gives, "gives")
    if any(layer.graph is not None and layer.graph.clone_arguments is not None for layer in graph.layers):
        raise MalformedGraph("clone_arguments: expected none for a model within another")
    if any(layer.graph is not None and layer.graph.preparations for layer in graph.layers):
        raise MalformedGraph("preparations: expected none for a model within another")
    if graph.clone_arguments is not None:
        if graph.clone_arguments == CloneArguments():
            raise MalformedGraph("clone_arguments: expected an argument")
        if graph.preparations:
            raise MalformedGraph("preparations: expected none for a model that is cloned with arguments")
    _check_names(graph)


def _check_tensors(graph: Graph, ends: Value, place: str) -> None:
    found = list(refs(ends))
    if not found:
        raise MalformedGraph(f"{place}: expected at least one tensor")
    for ref in found:
        _check_ref(graph, ref, len(graph.inputs) + len(graph.calls), place)


def _check_ref(graph: Graph, ref: Ref, before: int, place: str) -> None:
    if not 0 <= ref.node < before:
        raise MalformedGraph(f"{place}: expected a node before {before}, found node {ref.node}")
    if not 0 <= ref.output < graph.outputs_of(ref.node):
        raise MalformedGraph(f"{place}: node {ref.node} has {graph.outputs_of(ref.node)} outputs, found {ref.output}")


def _check_names(graph: Graph) -> None:
    parts: tuple[Input | Layer, ...] = (*graph.inputs, *graph.layers)
    names = [part.name for part in parts if part.name is not None]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise MalformedGraph(f"names: expected each name once, found {twice[0]!r} more often")


def to_json(graph: Graph) -> bytes:
    """The graph as JSON, the same bytes for equal graphs."""
    return msgspec.json.encode(graph)


def from_json(data: bytes | str, where: str = "graph") -> Graph:
    """Read a graph back. `where` names the file in the error."""
    try:
        return _DECODER.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:  # ValidationError, which names the field, is one of them
        raise MalformedGraph(f"{where}: not a graph of version {VERSION}: {error}") from None
    except RecursionError:
        raise MalformedGraph(f"{where}: nested too deep to be a graph") from None


def read_graph(path: Path) -> Graph:
    """Read a graph from a file that may come from anywhere."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise MalformedGraph(f"{path}: cannot be read: {error.strerror}") from None
    return from_json(data, str(path))


_DECODER = msgspec.json.Decoder(Graph)
