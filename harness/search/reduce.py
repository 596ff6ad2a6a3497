"""Reduces a program while it fails in the same way: removes or simplifies parts.

Keras builds or refuses each proposal. A proposal must be smaller by `size`, so the reduction ends.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from msgspec import NODEFAULT
from msgspec.structs import fields, replace

from clonediff.strategies.layers import CATALOGUE
from clonediff.strategies.operations import is_operation
from clonediff.strategies.program import Again, Apply, Graph, Input, Instruction, Nest, Program, Tensor, to_json

T = TypeVar("T")

MAX_TRIALS = 400
"""How many trials for one finding may be unsuccessful."""
_LIST_FIELDS = ("arguments", "call", "after", "definitions", "preparations", "outputs", "lines")
_KEPT_FIELDS = ("arguments", "tensors", "count", "packed", "outputs", "on")
"""Fields whose default would not be simpler."""
_PLAIN_KINDS = ("ReLU", "Dense", "Activation")
_PLAIN_VALUES = {"units": "1", "output_dim": "1", "filters": "1", "key_dim": "1", "num_heads": "1"}
_PLAIN_COMPILE_ARGUMENTS = {"loss": '"mse"', "metrics": '["mae"]'}
_TRANSFORM = "@keras.saving.register_keras_serializable()\ndef <transform>(x):\n    return {}\n"


def reduce(
    graph: Graph, rebuild: Callable[[Program], Graph | None], shows: Callable[[Graph], bool], budget: int = MAX_TRIALS
) -> Graph:
    """The smallest graph found for which `shows` is true, as for `graph`."""
    seen = {to_json(graph)}
    programs = proposals(graph.program)
    while budget > 0 and (program := next(programs, None)) is not None:
        candidate = rebuild(program) if size(program) < size(graph.program) else None
        if candidate is None or to_json(candidate) in seen:
            continue
        seen.add(to_json(candidate))
        if shows(candidate):
            graph, programs = candidate, proposals(candidate.program)
        else:
            budget -= 1
    return graph


def size(program: Program) -> tuple[int, int, int]:
    """A program's size: its parts, the length of its text, and its number of default shapes."""
    text = to_json(Graph(program, ""))
    parts = text.count(b'"do":') + len(program.inputs) + len(program.outputs) + len(program.preparations)
    return parts, len(text), sum(text.count(shape) for shape in (b"[3,4]", b"[4,4,3]"))


def proposals(program: Program) -> Iterator[Program]:
    """Yield smaller programs, roughly the smallest first."""
    numbered = list(enumerate(program.body))
    yield from (_splice(program, index, (), instruction.tensors[:1]) for index, instruction in reversed(numbered))
    yield from (_inline(program, index, nest) for index, nest in numbered if isinstance(nest, Nest))
    yield from _remove_one(program)
    yield from _vary(program, "preparations", _remove_one)
    yield from _vary(program, "preparations", lambda preparation: _vary(preparation, "lines", _simplify_line))
    yield from _vary(program, "body", _reduce_instruction)
    yield from _vary(program, "inputs", _simplify_input)
    yield from _merge_inputs(program)


def _remove_one(value: T) -> Iterator[T]:
    """Yield copies of a struct with one field reset, or one item removed."""
    for field in fields(value):  # type: ignore[arg-type]  # a struct
        content = getattr(value, field.name)
        if field.name not in _KEPT_FIELDS and field.default is not NODEFAULT and content != field.default:
            yield replace(value, **{field.name: field.default})  # type: ignore[type-var]
        if field.name in _LIST_FIELDS and len(content) > (field.default != ()):
            yield from (replace(value, **{field.name: items}) for items in _remove_items(content))  # type: ignore[type-var]


def _remove_items(items: tuple[T, ...]) -> Iterator[tuple[T, ...]]:
    return ((*items[:index], *items[index + 1 :]) for index in range(len(items)))


def _vary(value: T, name: str, changes: Callable[[Any], Iterator[Any]]) -> Iterator[T]:
    """Yield copies of a struct with one item of a field changed."""
    items = getattr(value, name)
    for index, item in enumerate(items):
        for changed_item in changes(item):
            yield replace(value, **{name: (*items[:index], changed_item, *items[index + 1 :])})  # type: ignore[type-var]


def _inline(program: Program, index: int, nest: Nest) -> Program:
    """Replace a nested model with its body."""

    def outer_tensor(tensor: Tensor) -> Tensor:
        node, output = tensor
        return nest.tensors[min(-1 - node, len(nest.tensors) - 1)] if node < 0 else (node + index, output)

    body = tuple(_renumber(instruction, outer_tensor, lambda layer: layer + index) for instruction in nest.body)
    return _splice(program, index, body, tuple(map(outer_tensor, nest.outputs)))


def _splice(program: Program, index: int, body: tuple[Instruction, ...], results: tuple[Tensor, ...]) -> Program:
    """Replace an instruction with a body, and its outputs with `results`."""

    def shift(number: int) -> int:
        return number + len(body) - 1 if number > index else number

    def move(tensor: Tensor) -> Tensor:
        node, output = tensor
        return results[output % len(results)] if node == index else (shift(node), output)

    new_body = (*program.body[:index], *body, *(_renumber(step, move, shift) for step in program.body[index + 1 :]))
    outputs = tuple(tensor for tensor in dict.fromkeys(map(move, program.outputs)) if tensor[0] >= 0)
    preparations = tuple(preparation for preparation in program.preparations if preparation.on != index)
    preparations = tuple(replace(item, on=item.on and shift(item.on)) for item in preparations)
    return replace(program, body=new_body, outputs=outputs or ((len(new_body) - 1, 0),), preparations=preparations)


def _renumber(instruction: Instruction, move: Callable[[Tensor], Tensor], shift: Callable[[int], int]) -> Instruction:
    tensors = tuple(map(move, instruction.tensors))
    if isinstance(instruction, Again):
        return replace(instruction, tensors=tensors, layer=shift(instruction.layer))
    return replace(instruction, tensors=tensors)


def _merge_inputs(program: Program) -> Iterator[Program]:
    """Yield programs in which one input replaces another."""
    for index, other in itertools.permutations(range(len(program.inputs)), 2):

        def move(tensor: Tensor, index: int = index, other: int = other) -> Tensor:
            number = other if tensor[0] == -1 - index else -1 - tensor[0]
            return tensor if tensor[0] >= 0 else (-1 - (number - (number > index)), 0)

        body = tuple(_renumber(instruction, move, lambda layer: layer) for instruction in program.body)
        inputs = (*program.inputs[:index], *program.inputs[index + 1 :])
        yield replace(program, inputs=inputs, body=body, outputs=tuple(map(move, program.outputs)))


def _simplify_line(line: str) -> Iterator[str]:
    """Yield the line without an argument, or with a plainer value."""
    if call := re.fullmatch(r"(<it>\.\w+\()(.*)\)", line):
        arguments = tuple(re.split(r", (?=\w+=)", call[2]))
        yield from (f"{call[1]}{', '.join(items)})" for items in _remove_items(arguments))
    for name, value in _PLAIN_COMPILE_ARGUMENTS.items():
        yield re.sub(rf"\b{name}=.*?(?=, \w+=|\)$)", f"{name}={value}", line)


def _reduce_instruction(instruction: Instruction) -> Iterator[Instruction]:
    if isinstance(instruction, Nest):
        smaller = proposals(Program("keras", (), instruction.body, instruction.outputs))
        yield from (replace(instruction, body=model.body, outputs=model.outputs) for model in smaller)
        yield replace(instruction, tensors=instruction.tensors[:1])
    yield from _remove_one(instruction)
    if isinstance(instruction, Apply):
        yield from _simplify_call(instruction)


def _simplify_call(apply: Apply) -> Iterator[Apply]:
    """Yield calls of plainer kinds, with fewer tensors or plainer arguments."""
    if not is_operation(apply.kind) and apply.count == 1:
        for kind in _PLAIN_KINDS:
            yield replace(apply, kind=kind, arguments=CATALOGUE[kind].base_arguments[0], call=(), definitions=())
    if apply.count > 1:
        yield replace(apply, tensors=apply.tensors[:1], count=1, packed="one")
        yield replace(apply, tensors=(apply.tensors[0],) * len(apply.tensors))
    arguments = dict(apply.arguments)
    simplest = dict(CATALOGUE[apply.kind].base_arguments[0]) if apply.kind in CATALOGUE else {}
    for plain in (simplest, *({name: _PLAIN_VALUES[name]} for name in arguments if name in _PLAIN_VALUES)):
        yield replace(apply, arguments=tuple({**arguments, **plain}.items()))
    if apply.kind == "Lambda":
        yield from _simplify_lambda(apply)


def _simplify_lambda(apply: Apply) -> Iterator[Apply]:
    """Yield the Lambda with a plainer function body, then a plainer form."""
    others = tuple(pair for pair in apply.definitions if pair[0] in ("output_mask", "output_shape"))
    for result in ("x", "x * 2.0", "x + 1.0", "[x, x]", "[x, x * 2.0]"):
        for name, text in apply.definitions:
            if name != "output_mask":
                body = re.sub(r"(return (?:lambda x: )?).*\n\Z", rf"\g<1>{result}\n", text)
                yield replace(apply, definitions=tuple({**dict(apply.definitions), name: body}.items()))
        transform = ("transform", _TRANSFORM.format(result))
        for function, definitions in ((f"lambda x: {result}", others), ("<transform>", (transform, *others))):
            arguments = {**dict(apply.arguments), "function": function}
            yield replace(apply, arguments=tuple(arguments.items()), definitions=definitions)


def _simplify_input(spec: Input) -> Iterator[Input]:
    yield from _remove_one(spec)
    for shape in ((1,), (4,), (3, 4), (1, 1), spec.shape[1:], (1,) * len(spec.shape)):
        if shape and len(shape) <= len(spec.shape):
            yield replace(spec, shape=shape)
    yield replace(spec, shape=tuple(length or 3 for length in spec.shape))
