"""Make a program smaller as long as it shows the same: leave things out, and put plainer ones in their place.

A smaller program is proposed, and Keras builds it or refuses it. Every proposal is less by `size`, so there is an end.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from clonediff.strategies.layers import CATALOGUE
from clonediff.strategies.operations import is_operation
from clonediff.strategies.program import Again, Apply, Graph, Input, Instruction, Nest, Program, Tensor, to_json

MOST = 400
"""So many trials are made for one finding."""
_PLAIN_KINDS = ("Activation", "Dense", "Lambda", "ReLU")
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
    for at in reversed(range(len(program.body))):
        yield _without(program, at)
    for at, instruction in enumerate(program.body):
        if isinstance(instruction, Nest):
            yield from _inlined(program, at, instruction)
    yield from _plainer_model(program)
    if len(program.outputs) > 1:
        for at in range(len(program.outputs)):
            yield replace(program, outputs=_but(program.outputs, at))
    for at, instruction in enumerate(program.body):
        for smaller in _smaller(instruction):
            yield replace(program, body=(*program.body[:at], smaller, *program.body[at + 1 :]))
    for at, spec in enumerate(program.inputs):
        for plainer in _plainer_inputs(spec):
            yield replace(program, inputs=(*program.inputs[:at], plainer, *program.inputs[at + 1 :]))
    for at in range(len(program.inputs)):
        yield from _without_input(program, at)


def _but(items: Sequence[Tensor], at: int) -> tuple[Tensor, ...]:
    return (*items[:at], *items[at + 1 :])


def _without(program: Program, at: int) -> Program:
    """The program without an instruction: what took its tensors takes the one that it took."""
    there = program.body[at].tensors[0]

    def moved(tensor: Tensor) -> Tensor:
        node, output = tensor
        return there if node == at else (node - (node > at), output)

    later = tuple(_moved(each, moved, lambda layer: layer - (layer > at)) for each in program.body[at + 1 :])
    prepared = tuple(
        replace(each, on=None if each.on is None else each.on - (each.on > at))
        for each in program.preparations
        if each.on != at
    )
    body = (*program.body[:at], *(each for each in later if not (isinstance(each, Again) and each.layer < 0)))
    outputs = tuple(dict.fromkeys(map(moved, program.outputs)))
    made = tuple(tensor for tensor in outputs if tensor[0] >= 0) or ((len(body) - 1, 0),)
    return replace(program, body=body, outputs=made, preparations=prepared)


def _moved(instruction: Instruction, moved: Callable[[Tensor], Tensor], layer: Callable[[int], int]) -> Instruction:
    tensors = tuple(map(moved, instruction.tensors))
    if isinstance(instruction, Again):
        return replace(instruction, tensors=tensors, layer=layer(instruction.layer))
    return replace(instruction, tensors=tensors)


def _without_input(program: Program, at: int) -> Iterator[Program]:
    """The program with another input in the place of one, which goes."""
    if len(program.inputs) == 1:
        return
    for other in range(len(program.inputs)):
        if other == at:
            continue

        def moved(tensor: Tensor, other: int = other) -> Tensor:
            number = -1 - tensor[0]
            chosen = other if number == at else number
            return tensor if tensor[0] >= 0 else (-1 - (chosen - (chosen > at)), 0)

        body = tuple(_moved(each, moved, lambda layer: layer) for each in program.body)
        inputs = (*program.inputs[:at], *program.inputs[at + 1 :])
        yield replace(program, inputs=inputs, body=body, outputs=tuple(map(moved, program.outputs)))


def _inlined(program: Program, at: int, nest: Nest) -> Iterator[Program]:
    """The program with the body of a model in the place of the model, and with a smaller body."""
    count = len(nest.body)

    def inner(tensor: Tensor) -> Tensor:
        node, output = tensor
        return nest.tensors[min(-1 - node, len(nest.tensors) - 1)] if node < 0 else (node + at, output)

    def outer(tensor: Tensor) -> Tensor:
        node, output = tensor
        if node == at:
            return inner(nest.outputs[output % len(nest.outputs)])
        return (node + count - 1 if node > at else node, output)

    body = tuple(_moved(each, inner, lambda layer: layer + at) for each in nest.body)
    later = tuple(
        _moved(each, outer, lambda layer: layer + (count - 1 if layer > at else 0)) for each in program.body[at + 1 :]
    )
    prepared = tuple(
        replace(each, on=each.on + count - 1 if each.on is not None and each.on > at else each.on)
        for each in program.preparations
        if each.on != at
    )
    outputs = tuple(map(outer, program.outputs))
    yield replace(program, body=(*program.body[:at], *body, *later), outputs=outputs, preparations=prepared)


def _plainer_model(program: Program) -> Iterator[Program]:
    for at in range(len(program.preparations)):
        yield replace(program, preparations=(*program.preparations[:at], *program.preparations[at + 1 :]))
    for at, each in enumerate(program.preparations):
        for line in _plainer_lines(each.lines):
            changed = replace(each, lines=line)
            yield replace(program, preparations=(*program.preparations[:at], changed, *program.preparations[at + 1 :]))
    plainer: list[dict[str, Any]] = [{"clone_arguments": word} for word in ("", *program.clone_arguments.split())]
    plainer += [{"own": ""}, {"name": None}, {"scope": None}, {"frozen": False}, {"sequential": False}]
    plainer += [{"takes": "plain"}, {"gives": "plain"}]
    for changes in plainer:
        if any(getattr(program, name) != value for name, value in changes.items()):
            yield replace(program, **changes)


def _plainer_lines(lines: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Fewer lines, and a call with an argument less."""
    if len(lines) > 1:
        yield lines[:1]
    for at, line in enumerate(lines):
        found = re.fullmatch(r"(<it>\.\w+\()(.*)\)", line)
        parts = re.split(r", (?=\w+=)", found[2]) if found else []
        for number in range(len(parts)):
            kept = ", ".join(parts[:number] + parts[number + 1 :])
            yield (*lines[:at], f"{found[1]}{kept})" if found else line, *lines[at + 1 :])
    for short in ('"mse"', '["mae"]'):
        for name in ("loss", "metrics"):
            yield tuple(re.sub(rf"{name}=.*?(?=, \w+=|\)$)", f"{name}={short}", line) for line in lines)


def _smaller(instruction: Instruction) -> Iterator[Instruction]:
    if isinstance(instruction, Nest):
        if len(instruction.body) > 1:
            for at in reversed(range(len(instruction.body))):
                shell = Program("keras", (), instruction.body, instruction.outputs)
                less = _without(shell, at)
                yield replace(instruction, body=less.body, outputs=less.outputs)
        if len(instruction.outputs) > 1:
            yield from (replace(instruction, outputs=(each,)) for each in instruction.outputs)
        if len(instruction.tensors) > 1:
            yield replace(instruction, tensors=instruction.tensors[:1])
        for plain in ({"call": ()}, {"own": ""}, {"name": None}, {"frozen": False}, {"sequential": False}):
            yield replace(instruction, **plain)
        for at, each in enumerate(instruction.body):
            for less_of_it in _smaller(each):
                yield replace(instruction, body=(*instruction.body[:at], less_of_it, *instruction.body[at + 1 :]))
        return
    for at in range(len(instruction.call)):
        yield replace(instruction, call=(*instruction.call[:at], *instruction.call[at + 1 :]))
    if isinstance(instruction, Apply):
        yield from _smaller_call(instruction)


def _smaller_call(apply: Apply) -> Iterator[Apply]:
    """A plainer kind, fewer and plainer arguments, fewer tensors."""
    if not is_operation(apply.kind) and apply.count == 1:
        for kind in _PLAIN_KINDS[: _PLAIN_KINDS.index(apply.kind) if apply.kind in _PLAIN_KINDS else None]:
            if kind != "Lambda":
                yield replace(apply, kind=kind, arguments=CATALOGUE[kind].bases[0], call=(), definitions=())
    for at in range(len(apply.arguments)):
        yield replace(apply, arguments=(*apply.arguments[:at], *apply.arguments[at + 1 :]))
    for at in range(len(apply.after)):
        yield replace(apply, after=(*apply.after[:at], *apply.after[at + 1 :]))
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
    for plain in ({"name": None}, {"optional": False}, {"fill": "normal"}, {"dtype": "float32", "high": None}):
        yield replace(spec, **plain)
    for shape in ((1,), (4,), (3, 4), (1, 1), spec.shape[1:], (1,) * len(spec.shape)):
        if shape and len(shape) <= len(spec.shape):
            yield replace(spec, shape=shape)
    yield replace(spec, shape=tuple(size or 3 for size in spec.shape))
