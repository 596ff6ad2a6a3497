"""A program: a model as a few instructions, with what is done to it before it is cloned, and how it is cloned.

A value is the text of a Python expression. In it `<0>`, `<1>` are the tensors of the instruction, and another word in
angle brackets is a function or class that stands above the model: one of `DEFINITIONS`, or of the instruction's own.
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
"""Names of arguments, each with the text of its value. A positional argument has no name."""
Tensor: TypeAlias = tuple[int, int]
"""A node and one of its outputs: an instruction counted from 0, or an input counted down from -1."""
Own = Literal["", "plain", "option", "step", "compile"]
"""The class that a model is of: Keras' own, or a custom one: plain, or with a method of its own."""
Packed = Literal["one", "list", "each"]
"""How tensors are passed: the only argument, a list, one argument each."""
Arrangement = Literal["plain", "list", "tuple", "dict", "nested"]


class MalformedGraph(ValueError):
    """A text that is no drawn model. The message says where and what was expected."""


class Input(msgspec.Struct, frozen=True, omit_defaults=True):
    """An input. `shape` is without the batch, None where it is open; `fill` says what its values are like."""

    shape: tuple[int | None, ...]
    dtype: str = "float32"
    name: str | None = None
    optional: bool = False
    fill: Literal["normal", "steps", "ids", "mask", "words"] = "normal"
    high: int | None = None


class Apply(msgspec.Struct, frozen=True, omit_defaults=True, tag="apply", tag_field="do"):
    """Make a layer of a kind and call it on tensors, or call an operation.

    The first `count` tensors are passed as `packed` says, the others where the text of an argument of the call has
    them. `after` are lines that follow the constructor, without the layer's name: "trainable = False". `definitions`
    are the functions and classes that only this instruction has, by name.
    """

    kind: str
    arguments: Arguments = ()
    tensors: tuple[Tensor, ...] = ((-1, 0),)
    count: int = 1
    packed: Packed = "one"
    call: Arguments = ()
    after: tuple[str, ...] = ()
    definitions: Arguments = ()


class Again(msgspec.Struct, frozen=True, omit_defaults=True, tag="again", tag_field="do"):
    """Call the layer, or the model, of an earlier instruction once more."""

    layer: int
    tensors: tuple[Tensor, ...] = ((-1, 0),)
    call: Arguments = ()


class Nest(msgspec.Struct, frozen=True, omit_defaults=True, tag="nest", tag_field="do"):
    """Make a model of a body of its own, whose inputs are like the tensors, and call it on them.

    It is of the custom class `own`, if that is not "".
    """

    body: tuple[Instruction, ...]
    tensors: tuple[Tensor, ...] = ((-1, 0),)
    outputs: tuple[Tensor, ...] = ((0, 0),)
    sequential: bool = False
    own: Own = ""
    name: str | None = None
    frozen: bool = False
    call: Arguments = ()


Instruction: TypeAlias = Apply | Again | Nest


class Preparation(msgspec.Struct, frozen=True, omit_defaults=True):
    """Lines that run after the model is made. In them `<it>` is the layer of an instruction, or the model."""

    does: str
    lines: tuple[str, ...]
    on: int | None = None


class Scope(msgspec.Struct, frozen=True, omit_defaults=True):
    """A custom function or class that is registered nowhere, and is found by its name within a scope.

    The scope is around the making of the model, around its cloning, or both.
    """

    name: str
    within: Literal["model", "clone", "both"] = "both"


class Program(msgspec.Struct, frozen=True, omit_defaults=True):
    """A model. A `sequential` one is a chain of its instructions.

    `takes` and `gives` say how inputs and outputs are nested. `clone_arguments` is one of `CLONE_ARGUMENTS`.
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
    own: Own = ""
    preparations: tuple[Preparation, ...] = ()
    scope: Scope | None = None
    clone_arguments: str = ""


class Graph(msgspec.Struct, frozen=True, omit_defaults=True):
    """A drawn model: a program that Keras has built, and the source of its model.

    `arguments` are the expressions that `clone_model` is given, `within` the scopes in which it is called.
    """

    program: Program
    source: str
    arguments: dict[str, str] = {}
    within: tuple[str, ...] = ()

    @property
    def generation(self) -> Generation:
        """The Keras that it is for."""
        return self.program.generation

    def __hash__(self) -> int:
        """Graphs of equal programs have equal hashes."""
        return hash(self.program)

    def __repr__(self) -> str:
        """The source, which is what a person wants to see."""
        return f"# a drawn model\n{self.source}"


def to_json(graph: Graph) -> bytes:
    """The graph as JSON, the same bytes for equal graphs."""
    return msgspec.json.encode(graph)


def from_json(data: bytes | str, where: str = "graph") -> Graph:
    """Read a graph. `where` names the file in the error."""
    try:
        return _DECODER.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:  # ValidationError, which names the field, is one of them
        raise MalformedGraph(f"{where}: {error}") from None


_DECODER = msgspec.json.Decoder(Graph)


def number_of(program: Program) -> int:
    """A number that is the same for equal programs, in every process."""
    return zlib.crc32(msgspec.json.encode(program))


def instructions(body: tuple[Instruction, ...]) -> Iterator[Instruction]:
    """All instructions, those of models in the model among them."""
    for instruction in body:
        yield instruction
        if isinstance(instruction, Nest):
            yield from instructions(instruction.body)


def kinds(program: Program) -> set[str]:
    """The kinds of layers and operations that a program calls."""
    return {instruction.kind for instruction in instructions(program.body) if isinstance(instruction, Apply)}
