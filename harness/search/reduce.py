"""Make a program smaller as long as it shows the same: leave things out, and put plainer ones in their place.

A smaller program is proposed, and Keras builds it or refuses it. Every proposal is less by `size`, so there is an end.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from typing import TypeVar

from msgspec import NODEFAULT
from msgspec.structs import fields, replace

from clonediff.strategies.layers import CATALOGUE
from clonediff.strategies.operations import is_operation
from clonediff.strategies.program import (
    Again,
    Apply,
    Graph,
    Input,
    Instruction,
    Nest,
    Preparation,
    Program,
    Tensor,
    to_json,
)

T = TypeVar("T")

MOST = 400
"""So many trials are made for one finding."""
_PLAIN_KINDS = ("ReLU", "Dense", "Activation")
_PLACES = ("arguments", "tensors", "count", "packed", "outputs", "on")
_PLAIN_VALUES = {"units": "1", "output_dim": "1", "filters": "1", "key_dim": "1", "num_heads": "1"}
_TRANSFORM = "@keras.saving.register_keras_serializable()\ndef <transform>(x):\n    return {}\n"


def reduce(
    graph: Graph, rebuilt: Callable[[Program], Graph | None], still: Callable[[Graph], bool], most: int = MOST
) -> Graph:
    """The smallest graph that was found for which `still` is true, as it is for the first one."""
    met = {to_json(graph)}
    while True:
        for program in proposals(graph.program):
            smaller = rebuilt(program) if size(program) < size(graph.program) else None
            if smaller is None or to_json(smaller) in met:
                continue
            met.add(to_json(smaller))
            if still(smaller):
                graph = smaller
                break
            most -= 1
            if most <= 0:
                return graph
        else:
            return graph


def size(program: Program) -> tuple[int, int, int]:
    """How large a program is: its instructions and what is done to it, then its text."""
    text = to_json(Graph(program, ""))
    calls = text.count(b'"do":') + len(program.inputs) + len(program.outputs) + len(program.preparations)
    return calls, len(text), sum(text.count(kind.encode()) for kind in ("[3,4]", "[4,4,3]"))


def proposals(program: Program) -> Iterator[Program]:
    """Smaller programs, those that leave out most first."""
    yield from (_without(program, at) for at in reversed(range(len(program.body))))
    yield from (_inlined(program, at, nest) for at, nest in enumerate(program.body) if isinstance(nest, Nest))
    yield from _by_default(program)
    yield from (replace(program, preparations=few) for few in _fewer(program.preparations))
    yield from (replace(program, preparations=some) for some in _changed(program.preparations, _plainer_lines))
    yield from (replace(program, clone_arguments=word) for word in program.clone_arguments.split())
    yield from _thinner(program)
    yield from (replace(program, inputs=some) for some in _changed(program.inputs, _plainer_inputs))
    yield from _without_inputs(program)


def _thinner(program: Program) -> Iterator[Program]:
    """The program with fewer outputs, or with less in an instruction."""
    yield from (replace(program, outputs=few) for few in _fewer(program.outputs) if few)
    yield from (replace(program, body=some) for some in _changed(program.body, _smaller))


def _fewer(items: tuple[T, ...]) -> Iterator[tuple[T, ...]]:
    return ((*items[:at], *items[at + 1 :]) for at in range(len(items)))


def _changed(items: tuple[T, ...], changes: Callable[[T], Iterator[T]]) -> Iterator[tuple[T, ...]]:
    return ((*items[:at], new, *items[at + 1 :]) for at, item in enumerate(items) for new in changes(item))


def _by_default(value: T) -> Iterator[T]:
    """The value with one of its fields as it is by default."""
    for field in fields(value):  # type: ignore[arg-type]  # all that is handed in are structs
        default = field.default is not NODEFAULT and field.name not in _PLACES
        if default and getattr(value, field.name) != field.default:
            yield replace(value, **{field.name: field.default})  # type: ignore[type-var]


def _without(program: Program, at: int) -> Program:
    """The program without an instruction: what took its tensors takes the one that it took."""
    return _spliced(program, at, (), program.body[at].tensors[:1])


def _inlined(program: Program, at: int, nest: Nest) -> Program:
    """The program with the body of a model in the place of the model."""

    def outer(tensor: Tensor) -> Tensor:
        node, output = tensor
        return nest.tensors[min(-1 - node, len(nest.tensors) - 1)] if node < 0 else (node + at, output)

    body = tuple(_moved(instruction, outer, lambda layer: layer + at) for instruction in nest.body)
    return _spliced(program, at, body, tuple(map(outer, nest.outputs)))


def _spliced(program: Program, at: int, body: tuple[Instruction, ...], gives: tuple[Tensor, ...]) -> Program:
    """The program with a body in the place of an instruction, and with what that gives."""
    more = len(body) - 1

    def shifted(number: int) -> int:
        return number + more if number > at else number

    def moved(tensor: Tensor) -> Tensor:
        node, output = tensor
        return gives[output % len(gives)] if node == at else (shifted(node), output)

    body = (*program.body[:at], *body, *(_moved(later, moved, shifted) for later in program.body[at + 1 :]))
    outputs = tuple(tensor for tensor in dict.fromkeys(map(moved, program.outputs)) if tensor[0] >= 0)
    prepared = tuple(
        replace(done, on=None if done.on is None else shifted(done.on))
        for done in program.preparations
        if done.on != at
    )
    return replace(program, body=body, outputs=outputs or ((len(body) - 1, 0),), preparations=prepared)


def _moved(instruction: Instruction, moved: Callable[[Tensor], Tensor], layer: Callable[[int], int]) -> Instruction:
    tensors = tuple(map(moved, instruction.tensors))
    if isinstance(instruction, Again):
        return replace(instruction, tensors=tensors, layer=layer(instruction.layer))
    return replace(instruction, tensors=tensors)


def _without_inputs(program: Program) -> Iterator[Program]:
    """The program with another input in the place of one, which goes."""
    for at, other in itertools.permutations(range(len(program.inputs)), 2):

        def moved(tensor: Tensor, at: int = at, other: int = other) -> Tensor:
            number = -1 - tensor[0]
            chosen = other if number == at else number
            return tensor if tensor[0] >= 0 else (-1 - (chosen - (chosen > at)), 0)

        body = tuple(_moved(instruction, moved, lambda layer: layer) for instruction in program.body)
        inputs = (*program.inputs[:at], *program.inputs[at + 1 :])
        yield replace(program, inputs=inputs, body=body, outputs=tuple(map(moved, program.outputs)))


def _plainer_lines(preparation: Preparation) -> Iterator[Preparation]:
    """The first line alone, and a call with an argument less or a plainer one."""
    yield replace(preparation, lines=preparation.lines[:1])
    yield from (replace(preparation, lines=some) for some in _changed(preparation.lines, _plainer_line))


def _plainer_line(line: str) -> Iterator[str]:
    if call := re.fullmatch(r"(<it>\.\w+\()(.*)\)", line):
        yield from (f"{call[1]}{', '.join(few)})" for few in _fewer(tuple(re.split(r", (?=\w+=)", call[2]))))
    for name, short in (("loss", '"mse"'), ("metrics", '["mae"]')):
        yield re.sub(rf"\b{name}=.*?(?=, \w+=|\)$)", f"{name}={short}", line)


def _smaller(instruction: Instruction) -> Iterator[Instruction]:
    if isinstance(instruction, Nest):
        nested = Program("keras", (), instruction.body, instruction.outputs)
        smaller = itertools.chain((_without(nested, at) for at in range(len(nested.body))), _thinner(nested))
        yield from (replace(instruction, body=less.body, outputs=less.outputs) for less in smaller)
        yield replace(instruction, tensors=instruction.tensors[:1])
    yield from _by_default(instruction)
    yield from (replace(instruction, call=few) for few in _fewer(instruction.call))
    if isinstance(instruction, Apply):
        yield from _smaller_call(instruction)


def _smaller_call(apply: Apply) -> Iterator[Apply]:
    """A plainer kind, fewer and plainer arguments, fewer tensors."""
    if not is_operation(apply.kind) and apply.count == 1:
        for kind in _PLAIN_KINDS:
            yield replace(apply, kind=kind, arguments=CATALOGUE[kind].bases[0], call=(), definitions=())
    yield from (replace(apply, arguments=few) for few in _fewer(apply.arguments))
    yield from (replace(apply, after=few) for few in _fewer(apply.after))
    if apply.count > 1:
        yield replace(apply, tensors=apply.tensors[:1], count=1, packed="one")
        if len(set(apply.tensors)) > 1:
            yield replace(apply, tensors=(apply.tensors[0],) * len(apply.tensors))
    bases = CATALOGUE[apply.kind].bases if apply.kind in CATALOGUE else ()
    given = dict(apply.arguments)
    for base in bases[:1]:
        yield replace(apply, arguments=tuple({**given, **dict(base)}.items()))
    for name, text in apply.arguments:
        if text != _PLAIN_VALUES.get(name, text):
            yield replace(apply, arguments=tuple({**given, name: _PLAIN_VALUES[name]}.items()))
    if apply.kind == "Lambda":
        yield from _plainer_lambdas(apply)


def _plainer_lambdas(apply: Apply) -> Iterator[Apply]:
    """The same form of a function with a plainer body; then a plainer form."""
    definitions = dict(apply.definitions)
    for gives in ("x", "x * 2.0", "x + 1.0", "[x, x]", "[x, x * 2.0]"):
        for name, text in definitions.items():
            if name != "output_mask":
                head, _, last = text.rpartition("return ")
                body = f"{head}return {'lambda x: ' if last.startswith('lambda') else ''}{gives}\n"
                yield replace(apply, definitions=tuple({**definitions, name: body}.items()))
        plain = {**dict(apply.arguments), "function": f"lambda x: {gives}"}
        others = tuple(pair for pair in apply.definitions if f"<{pair[0]}>" in "".join(list(plain.values())[1:]))
        yield replace(apply, arguments=tuple(plain.items()), definitions=others)
        plain["function"] = "<transform>"
        definition = ("transform", _TRANSFORM.format(gives))
        yield replace(apply, arguments=tuple(plain.items()), definitions=(definition, *others))


def _plainer_inputs(spec: Input) -> Iterator[Input]:
    yield from _by_default(spec)
    for shape in ((1,), (4,), (3, 4), (1, 1), spec.shape[1:], (1,) * len(spec.shape)):
        if shape and len(shape) <= len(spec.shape):
            yield replace(spec, shape=shape)
    yield replace(spec, shape=tuple(size or 3 for size in spec.shape))
