"""Programs: the instructions of a model, its preparations, and the arguments for cloning it.

A value is a Python expression. In it, `<0>` and `<1>` are tensors of the instruction. Another name in angle brackets
is a function or class of `DEFINITIONS`, or of the instruction, which is defined above the model.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Literal, TypeAlias, get_args

import msgspec

Generation = Literal["keras", "tf_keras"]
"""Keras 3, and `tf_keras`, which is Keras 2 on TensorFlow 2."""
GENERATIONS: tuple[Generation, ...] = get_args(Generation)

Arguments: TypeAlias = tuple[tuple[str, str], ...]
"""Arguments, each a name ("" if it is positional) and a value as text."""
Tensor: TypeAlias = tuple[int, int]
"""The number of an instruction (0, 1, 2 ...) or input (-1, -2, -3 ...), and the number of its output."""
ModelClass = Literal["", "plain", "option", "step", "compile"]
"""The class of a model: Keras' ("") or a custom one, which may have an argument, or override a method."""
Packing = Literal["one", "list", "each"]
"""How to pass tensors: as the only argument, as a list, or as one argument each."""
Arrangement = Literal["plain", "list", "tuple", "dict", "nested"]


class MalformedGraph(ValueError):
    """A text is not a graph. The message names the file and the field."""


class Input(msgspec.Struct, frozen=True, omit_defaults=True):
    """An input. `shape` has no batch dimension; `fill` and `high` determine the values."""

    shape: tuple[int | None, ...]
    dtype: str = "float32"
    name: str | None = None
    optional: bool = False
    fill: Literal["normal", "steps", "ids", "mask", "words"] = "normal"
    high: int | None = None


class Apply(msgspec.Struct, frozen=True, omit_defaults=True, tag="apply", tag_field="do"):
    """Make a layer of a kind and call it on tensors, or call an operation.

    The first `count` tensors are the inputs; values of `call` refer to the others. `after` are lines that follow the
    constructor, without the layer's name: "trainable = False". `definitions` are functions and classes of this
    instruction, by name.
    """

    kind: str
    arguments: Arguments = ()
    tensors: tuple[Tensor, ...] = ((-1, 0),)
    count: int = 1
    packed: Packing = "one"
    call: Arguments = ()
    after: tuple[str, ...] = ()
    definitions: Arguments = ()


class Again(msgspec.Struct, frozen=True, omit_defaults=True, tag="again", tag_field="do"):
    """Call the layer, or the nested model, of an earlier instruction again."""

    layer: int
    tensors: tuple[Tensor, ...] = ((-1, 0),)
    call: Arguments = ()


class Nest(msgspec.Struct, frozen=True, omit_defaults=True, tag="nest", tag_field="do"):
    """Make a nested model from a body, and call it. `own` is its class."""

    body: tuple[Instruction, ...]
    tensors: tuple[Tensor, ...] = ((-1, 0),)
    outputs: tuple[Tensor, ...] = ((0, 0),)
    sequential: bool = False
    own: ModelClass = ""
    name: str | None = None
    frozen: bool = False
    call: Arguments = ()


Instruction: TypeAlias = Apply | Again | Nest


class Preparation(msgspec.Struct, frozen=True, omit_defaults=True):
    """Lines that change the model. `<it>` is the layer of instruction `on`, or the model."""

    does: str
    lines: tuple[str, ...]
    on: int | None = None


class Scope(msgspec.Struct, frozen=True, omit_defaults=True):
    """A custom function or class that is not registered, but known in a `custom_object_scope`.

    The model is built in it, cloned in it, or both.
    """

    name: str
    part: Literal["model", "clone", "both"] = "both"


class Program(msgspec.Struct, frozen=True, omit_defaults=True):
    """A model. If it is `sequential`, each instruction takes the output of the one before.

    `takes` and `gives` are the nesting of the inputs and of the outputs. `clone_arguments` is one of `CLONE_ARGUMENTS`.
    """

    generation: Generation
    inputs: tuple[Input, ...]
    body: tuple[Instruction, ...]
    outputs: tuple[Tensor, ...] = ((-1, 0),)
    takes: Arrangement = "plain"
    gives: Arrangement = "plain"
    name: str | None = None
    frozen: bool = False
    sequential: bool = False
    own: ModelClass = ""
    preparations: tuple[Preparation, ...] = ()
    scope: Scope | None = None
    clone_arguments: str = ""


class Graph(msgspec.Struct, frozen=True, omit_defaults=True):
    """A model under test: a program that Keras has built, and its source.

    `arguments` has the arguments of `clone_model`, and `scopes` the scopes in which it is called, as expressions.
    """

    program: Program
    source: str
    arguments: dict[str, str] = {}
    scopes: tuple[str, ...] = ()

    @property
    def generation(self) -> Generation:
        return self.program.generation

    def __hash__(self) -> int:
        """Hash the program, since the arguments are a dict."""
        return hash(self.program)

    def __repr__(self) -> str:
        return f"# a drawn model\n{self.source}"


def to_json(graph: Graph) -> bytes:
    """Encode a graph as JSON: the same bytes for equal graphs."""
    return msgspec.json.encode(graph)


def from_json(data: bytes | str, source: str = "graph") -> Graph:
    """Decode a graph. `source` names the file in the error."""
    try:
        return _DECODER.decode(data)
    except (
        msgspec.DecodeError,
        UnicodeDecodeError,
    ) as error:  # a ValidationError, which names the field, is a DecodeError
        raise MalformedGraph(f"{source}: {error}") from None


_DECODER = msgspec.json.Decoder(Graph)


def stable_hash(program: Program) -> int:
    """A hash that is the same in all processes."""
    return zlib.crc32(msgspec.json.encode(program))


def instructions(body: tuple[Instruction, ...]) -> Iterator[Instruction]:
    """Yield all instructions, also of nested models."""
    for instruction in body:
        yield instruction
        if isinstance(instruction, Nest):
            yield from instructions(instruction.body)
