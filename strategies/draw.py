"""Draws models: proposes versions of each instruction, and keeps the first that Keras accepts.

Keras accepts a call if it runs on symbolic tensors, and on values.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from clonediff.strategies import prepare
from clonediff.strategies.build import Builder, Level, LineRunner, Output, Refused, snake_case
from clonediff.strategies.choices import Choices, ModelChoices
from clonediff.strategies.functions import FORMS, role_of
from clonediff.strategies.kind import COMMON_INPUTS, FALLBACK_INPUTS, INPUTS, Kind
from clonediff.strategies.lambdas import LambdaSketch, draw_lambda
from clonediff.strategies.objects import Objects, draw_object
from clonediff.strategies.operations import is_operation
from clonediff.strategies.program import (
    Again,
    Apply,
    Arguments,
    Arrangement,
    Generation,
    Graph,
    Input,
    Instruction,
    ModelClass,
    Nest,
    Program,
    Scope,
    Tensor,
)
from clonediff.strategies.undefined import why_undefined
from clonediff.strategies.values import COMPANIONS, LAYER_ARGUMENTS, OPTIONAL_COMPANIONS

_BODY_LENGTHS = (1, 1, 1, 2, 2, 2, 3, 3, 4, 5)
"""How many instructions a model may have, repeated by weight."""
MAX_CALLS = 5
"""The most calls in a model and its nested models together."""
MAX_INPUTS = 3
_MAX_OPERAND_CHOICES = 2
"""How many choices of tensors to try before adding a new input."""
_COMMON_SETTINGS = (
    *("", "", "", "", "named", "frozen", "frozen after", "dtype", "policy", "policy map", "autocast"),
    "regularized",
)
"""Settings that every layer has; "frozen after" freezes a layer once it is made."""
_FUNCTION_PREFIXES = ("<", "lambda", "functools.", "ops.")
"""Prefixes of values that are functions; these may also be set after the layer is made."""
_ARRANGEMENTS: tuple[Arrangement, ...] = (*("plain",) * 4, "list", "tuple", "dict", "nested")


@dataclass(frozen=True)
class Catalogue:
    """What to draw: the `kinds` of a release, and its `objects`, such as optimizers."""

    generation: Generation
    kinds: Mapping[str, Kind]
    objects: Objects
    prepares: bool = True
    """Whether to draw preparations and clone arguments."""
    unsupported_arguments: frozenset[str] = frozenset()
    """The `CLONE_ARGUMENTS` that the `clone_model` of the release does not accept."""

    @functools.cached_property
    def arguments(self) -> dict[str, list[str]]:
        """By kind: its options and, about equally often in all, "" for no argument."""
        kinds = self.kinds.values()
        count = sum(kind.share * len(kind.options) for kind in kinds)
        factor = round(sum(kind.weight for kind in kinds) / max(1, count))
        return {kind.name: [""] * kind.weight + [*kind.options] * (kind.share * factor) for kind in kinds}

    @functools.cached_property
    def weighted_kinds(self) -> list[Kind]:
        """Each kind as often as it is drawn, with and without an argument."""
        return [kind for kind in self.kinds.values() for _ in self.arguments[kind.name]]


@dataclass(frozen=True)
class _Sketch:
    """A call before its tensors are chosen; `tensor_argument` is "mask", "initial_state" or ""."""

    arguments: Arguments
    after: tuple[str, ...] = ()
    call: Arguments = ()
    tensor_argument: str = ""
    lambda_sketch: LambdaSketch | None = None

    def instruction(self, kind: Kind, tensors: tuple[Tensor, ...], output: Output) -> Apply:
        arguments, definitions = self.arguments, Arguments()
        if self.lambda_sketch is not None:
            lambda_arguments, definitions = self.lambda_sketch.arguments(len(tensors), len(output.shape))
            arguments = (*lambda_arguments, *arguments)
        count = len(tensors)
        return Apply(kind.name, arguments, tensors, count, kind.packing_of(count), self.call, self.after, definitions)


class Drawing:
    """Draws the instructions of one program."""

    def __init__(self, catalogue: Catalogue, builder: Builder, choices: Iterator[Choices], scope: Scope | None) -> None:
        self.catalogue = catalogue
        self.builder = builder
        self.choices = choices
        self.scope = scope
        self.is_scope_used = False
        self.call_count = 0
        self.input_template = ""

    def draw_body(self, level: Level, count: int) -> list[Instruction]:
        """Draw `count` instructions; return those that Keras accepts."""
        body = []
        for choices in itertools.islice(self.choices, count):
            if self.call_count < MAX_CALLS and (instruction := self._draw_instruction(level, choices)) is not None:
                body.append(instruction)
        return body

    def _draw_instruction(self, level: Level, choices: Choices) -> Instruction | None:
        number = choices.number(16)
        layers = [index for index, layer in enumerate(level.layers) if layer]
        if number >= 14 and layers:
            return self._draw_another_call(level, choices, layers)
        is_nest = number in (12, 13) and not level.stem and not level.linear
        return self._draw_nest(level, choices) if is_nest else self._draw_apply(level, choices)

    def _try_proposals(self, level: Level, proposals: Iterable[Instruction]) -> Instruction | None:
        for proposal in proposals:
            with contextlib.suppress(Refused):
                self.builder.add_instruction(level, proposal)
                self.call_count += 1
                if isinstance(proposal, Apply) and self._scope_value in dict(proposal.arguments).values():
                    self.is_scope_used = True
                return proposal
        return None

    # -- a new layer, or an operation

    def _draw_apply(self, level: Level, choices: Choices) -> Instruction | None:
        kind = choices.pick(self.catalogue.weighted_kinds)
        argument = choices.pick(self.catalogue.arguments[kind.name])
        min_count, max_count = kind.counts
        is_single = kind.packing == "one or each" and choices.number(4) < 3
        count = 1 if is_single else min_count + choices.number(max_count - min_count + 1)
        if level.linear and (count > 1 or is_operation(kind.name)):
            return None
        operands = self._operands(level, choices, kind, count)
        sketches, plain = self._sketches(level, choices, kind, argument)
        # Try the drawn arguments on all operands, then the plain ones.
        for group in (sketches, (plain,)):
            for operand in operands:
                if instruction := self._apply_to(level, operand, count, kind, group):
                    return instruction
        return None

    def _operands(self, level: Level, choices: Choices, kind: Kind, count: int) -> list[tuple[Tensor, ...] | str]:
        """Operands to try: tensors of the model, then names of new inputs."""
        tensors = itertools.islice(self._tensor_choices(level, choices, kind, count), _MAX_OPERAND_CHOICES)
        wants_input, inputs = choices.chance(8), self._inputs_to_try(kind, choices)
        is_full = len(level.inputs) >= (1 if level.linear else MAX_INPUTS)
        if not level.inputs or (wants_input and not is_full):
            return [*inputs]
        return [*tensors, *(() if level.stem or is_full else inputs)]

    def _apply_to(
        self, level: Level, operand: tuple[Tensor, ...] | str, count: int, kind: Kind, sketches: Sequence[_Sketch]
    ) -> Instruction | None:
        """The first accepted call on an operand: tensors, or a new input's name."""
        if not isinstance(operand, str):
            proposals = (self._proposals(level, sketch, kind, operand) for sketch in sketches)
            return self._try_proposals(level, itertools.chain.from_iterable(proposals))
        with contextlib.suppress(Refused), self.builder.attempt(level):
            self._add_input(level, INPUTS[operand])
            if instruction := self._apply_to(level, ((-len(level.inputs), 0),) * count, count, kind, sketches):
                return instruction
            raise Refused("no call on this input")
        return None

    def _add_input(self, level: Level, spec: Input) -> None:
        name = self.input_template.format(len(level.inputs)) or None
        self.builder.add_input(level, replace(spec, name=name))

    @staticmethod
    def _inputs_to_try(kind: Kind, choices: Choices) -> list[str]:
        names = kind.inputs or tuple(dict.fromkeys((choices.pick(COMMON_INPUTS), "sequence", "vector", "image", "ids")))
        start = choices.number(len(names)) if kind.inputs and kind.inputs is not FALLBACK_INPUTS else 0
        return list(names[start:] + names[:start])

    @staticmethod
    def _tensor_choices(level: Level, choices: Choices, kind: Kind, count: int) -> Iterator[tuple[Tensor, ...]]:
        """Yield the newest or other drawn tensors, then tensors of other shapes or dtypes."""
        start, shift = choices.pick((0, 0, 0, 1, 2)), choices.number(8)
        outputs = {tensor: level.output(tensor) for tensor in level.tensors()[: 1 if level.linear else None]}
        takes_strings = not is_operation(kind.name)
        tensors = [tensor for tensor, output in outputs.items() if output.dtype != "string" or takes_strings]
        if kind.inputs and kind.inputs is not FALLBACK_INPUTS:
            types = {(len(INPUTS[name].shape), INPUTS[name].dtype) for name in kind.inputs}
            tensors = [tensor for tensor in tensors if (len(outputs[tensor].shape), outputs[tensor].dtype) in types]
        descriptions = set()
        for offset in range(len(tensors)):
            first = tensors[(start + offset) % len(tensors)]
            description = outputs[first][1:]
            if description not in descriptions:
                descriptions.add(description)
                similar = [tensor for tensor in tensors if outputs[tensor][1:3] == description[:2]]
                yield (first, *(similar[(shift + number) % len(similar)] for number in range(count - 1)))

    def _sketches(self, level: Level, choices: Choices, kind: Kind, argument: str) -> tuple[list[_Sketch], _Sketch]:
        """Sketches with all drawn arguments, with only `argument`, and the plainest."""
        base = choices.pick(kind.base_arguments)
        sketch = draw_lambda(choices) if kind.family == "lambda" else None
        values = self._argument_values(choices, kind, argument) if argument else {}
        arguments = {**dict(base), **values}
        for _ in range(choices.pick((0, 0, 0, 1, 2)) if kind.options else 0):
            added = self._argument_values(choices, kind, choices.pick(list(kind.options)))
            arguments = {**added, **arguments} if argument in added else {**arguments, **added}
        after: tuple[str, ...] = ()
        if not is_operation(kind.name):
            after = self._draw_setting(choices, kind, arguments, len(level.nodes))
            self._use_scope(kind, arguments)
        calls = [(name, choices.pick(texts)) for name, texts in kind.call.items()]
        call = tuple((name, text) for name, text in calls if text and not level.linear)
        tensor_argument = "" if level.linear else choices.pick(("", "", *kind.tensor_arguments))
        call_texts = {} if level.linear else kind.call
        first_call = tuple((name, texts[0]) for name, texts in call_texts.items() if texts[0])
        full_sketch = _Sketch(tuple(arguments.items()), after, call, tensor_argument, sketch)
        alternatives = [tuple({**dict(start), **values}.items()) for start in (base, kind.base_arguments[0]) if values]
        sketches = [_Sketch(pairs, call=first_call, lambda_sketch=sketch) for pairs in dict.fromkeys(alternatives)]
        return [full_sketch, *sketches], _Sketch(kind.base_arguments[0], call=first_call, lambda_sketch=sketch)

    def _argument_values(self, choices: Choices, kind: Kind, name: str) -> dict[str, str]:
        """Draw an argument's value. Return it, with the arguments that it needs, by name."""
        role, arguments = role_of(name), {}
        text = choices.pick(kind.options[name])
        if role and choices.number(2):
            uses_class = role in _ROLES_WITH_CLASSES and choices.number(2)
            text = draw_object(role, self.catalogue.objects, choices) if uses_class else ""
            text = text or choices.pick(tuple(FORMS[role].values()))
        if name in COMPANIONS and not (name in OPTIONAL_COMPANIONS and choices.number(2)):
            arguments[COMPANIONS[name][0]] = COMPANIONS[name][1]
        arguments[name] = text
        if text.startswith("<shared_"):
            others = [other for other in kind.options if role_of(other) == role and other != name]
            arguments.update(dict.fromkeys(others[:1], text))
        return arguments

    def _draw_setting(self, choices: Choices, kind: Kind, arguments: dict[str, str], number: int) -> tuple[str, ...]:
        """Add an argument of every layer, or return lines that set an attribute."""
        setting, after = choices.pick(_COMMON_SETTINGS), list[str]()
        if setting in LAYER_ARGUMENTS:
            name, texts = LAYER_ARGUMENTS[setting]
            arguments[name] = choices.pick(texts)
        elif setting == "named":
            arguments["name"] = f'"my_{snake_case(kind.name.rpartition(":")[2].rpartition(".")[2])}{number or ""}"'
        elif setting == "frozen":
            arguments["trainable"] = "False"
        elif setting == "frozen after":
            after.append("trainable = False")
        functions = [name for name, text in arguments.items() if role_of(name) and text.startswith(_FUNCTION_PREFIXES)]
        if functions and choices.chance(4):
            after += [f"{name} = {arguments.pop(name)}" for name in functions if name in kind.options]
        if kind.name == "DropMask" and choices.number(2):
            after.append("supports_masking = True")
        return tuple(after)

    def _use_scope(self, kind: Kind, arguments: dict[str, str]) -> None:
        """Pass the scope's function to a layer if it takes a function of its role."""
        if self.scope is None or self.is_scope_used or self.scope.name in self.catalogue.kinds:
            return
        names = [name for name in kind.options if role_of(name) == _SCOPE_ROLES.get(self.scope.name)]
        if names:
            arguments[names[0]] = self._scope_value

    @property
    def _scope_value(self) -> str:
        if self.scope is None:
            return ""
        return f"<{self.scope.name}>" if self.scope.part == "clone" else f'"{self.scope.name}"'

    def _proposals(self, level: Level, sketch: _Sketch, kind: Kind, tensors: tuple[Tensor, ...]) -> Iterator[Apply]:
        """Yield the call with the drawn mask or initial state, then without it."""
        output = level.output(tensors[0])
        apply = sketch.instruction(kind, tensors, output)
        if sketch.tensor_argument == "mask":
            yield from self._add_mask(level, apply, output)
        elif sketch.tensor_argument == "initial_state":
            yield from self._add_initial_state(level, apply)
        yield apply

    def _add_mask(self, level: Level, apply: Apply, output: Output) -> Iterator[Apply]:
        """Yield the call with a tensor, or a new input, as its mask."""
        for tensor in level.tensors():
            mask = level.output(tensor)
            if mask.dtype == "bool" and mask.shape == output.shape[:1] and output.shape:
                tensors = (*apply.tensors, tensor)
                yield replace(apply, tensors=tensors, call=(*apply.call, ("mask", f"<{len(apply.tensors)}>")))
                return
        if output.shape and not level.stem and len(level.inputs) < MAX_INPUTS:
            with contextlib.suppress(Refused), self.builder.attempt(level):
                self._add_input(level, Input(output.shape[:1], "bool", fill="mask"))
                yield from self._add_mask(level, apply, output)
                raise Refused("no call with this mask")

    def _add_initial_state(self, level: Level, apply: Apply) -> Iterator[Apply]:
        """Yield the call with the newest vector as initial state, and its size as `units`."""
        for tensor in level.tensors():
            shape = level.output(tensor).shape
            if len(shape) == 1 and shape[0] is not None:
                arguments = tuple((name, str(shape[0]) if name == "units" else text) for name, text in apply.arguments)
                with_state = replace(apply, arguments=arguments, tensors=(*apply.tensors, tensor))
                yield replace(with_state, call=(*apply.call, ("initial_state", "<1>")))
                yield replace(with_state, call=(*apply.call, ("initial_state", "[<1>, <1>]")))
                return

    # -- a layer called again, and a nested model

    def _draw_another_call(self, level: Level, choices: Choices, layers: list[int]) -> Instruction | None:
        layer = layers[-1 - choices.number(min(4, len(layers)))]
        call: Arguments = () if level.linear else choices.pick(((), (("training", "True"),), (("by", "2.0"),), ()))
        tensors = level.tensors()[:1] if level.linear else level.tensors()
        start, shift = choices.pick((0, 0, 1, 2)), choices.number(8)
        proposals = []
        for offset in range(min(3, len(tensors))):
            first = tensors[(start + offset) % len(tensors)]
            similar = [tensor for tensor in tensors if level.output(tensor)[1:3] == level.output(first)[1:3]]
            count = level.calls[layer].tensor_count - 1
            others = [similar[(shift + number) % len(similar)] for number in range(count)]
            proposals += [Again(layer, (first, *others), arguments) for arguments in dict.fromkeys((call, ()))]
        return self._try_proposals(level, proposals)

    def _draw_nest(self, level: Level, choices: Choices) -> Instruction | None:
        sequential = choices.number(3) == 1
        model_class: ModelClass = choices.pick((*_KERAS_CLASSES, "plain", "option"))
        setting = choices.pick(("", "", "", "named", "frozen", ""))
        mode = choices.pick(("",) * 6 + ("training",))
        builder, call_count, spec = self.builder, self.call_count, INPUTS[choices.pick(COMMON_INPUTS)]
        if model_class == "option" and (sequential or self.catalogue.generation != "keras"):
            model_class = "plain"
        try:
            with builder.attempt(level):
                if not level.inputs:
                    self._add_input(level, spec)
                count = 1 if sequential else 1 + choices.number(2)
                tensors = tuple(choices.pick(level.tensors()) for _ in range(count))
                inner, start = builder.open_nest(level, tensors, sequential)
                body = self.draw_body(inner, choices.pick((1, 1, 2, 3)))
                if not body:
                    raise Refused("an empty model")
                ends = _unused_tensors(inner, body)
                outputs = ends[-1:] if sequential else ends[:1] if choices.number(3) == 2 else ends
                name = f"my_model{len(level.nodes) or ''}" if setting == "named" else None
                call: Arguments = (("training", "True"),) if mode == "training" else ()
                frozen = setting == "frozen"
                nest = Nest(tuple(body), tensors, tuple(outputs), sequential, model_class, name, frozen, call)
                builder.close_nest(level, nest, inner, start)
                return nest
        except Refused:
            self.call_count = call_count
            return None


_KERAS_CLASSES: tuple[ModelClass, ...] = ("", "", "", "")
_ROLES_WITH_CLASSES = ("initializer", "regularizer", "constraint")
_SCOPE_ROLES: Mapping[str, str] = {"double": "activation", "halves": "initializer", "magnitude": "regularizer"}
"""The functions for a scope, each with the role of the arguments that take it."""


def _unused_tensors(level: Level, body: Sequence[Instruction]) -> list[Tensor]:
    used = {tensor for instruction in body for tensor in instruction.tensors}
    tensors = [(node, number) for node, outputs in enumerate(level.nodes) for number in range(len(outputs))]
    return [tensor for tensor in tensors if tensor not in used]


def draw(choices: ModelChoices, catalogue: Catalogue, runner: LineRunner) -> Graph | None:
    """Draw a graph; None if Keras accepts no call. Raise `Refused` if it does not run."""
    frame = choices.frame
    count = frame.pick(_BODY_LENGTHS)
    sequential, named, frozen = frame.chance(8), frame.chance(8), frame.chance(8)
    takes = frame.pick(_ARRANGEMENTS)
    gives = frame.pick(_ARRANGEMENTS)
    model_class: ModelClass = frame.pick((*_KERAS_CLASSES * 3, "plain", "option", "step", "compile"))
    prepares = catalogue.prepares
    arguments = frame.pick(prepare.CLONE_ARGUMENTS) if frame.chance(8) and prepares and not model_class else ""
    drawn_scope = Scope(frame.pick((*_SCOPE_ROLES, "Scale", "Span", "Shift")), frame.pick(("clone", "model", "both")))
    scope = drawn_scope if frame.chance(16) and prepares and not arguments else None
    builder = Builder(catalogue.generation, runner, scope)
    drawing = Drawing(catalogue, builder, choices.instructions, scope)
    drawing.input_template = "in_{}" if takes == "dict" else "x{}" if frame.chance(8) or arguments else ""
    level = Level(linear=sequential)
    body = drawing.draw_body(level, count)
    if not body:
        return None
    ends = _unused_tensors(level, body)
    outputs = (ends[-1],) if sequential else _draw_outputs(frame, level, ends)
    program = Program(
        catalogue.generation,
        tuple(level.specs),
        tuple(body),
        outputs,
        "plain" if sequential else takes,
        "plain" if sequential else gives,
        "my_model" if named else None,
        frozen,
        sequential,
        "plain" if model_class == "option" and (sequential or catalogue.generation != "keras") else model_class,
        scope=scope if drawing.is_scope_used or (scope and scope.name in catalogue.kinds) else None,
        clone_arguments=arguments if arguments not in catalogue.unsupported_arguments else "",
    )
    if why_undefined(program):
        program = replace(program, clone_arguments="")
    try:
        builder.make_model(level, "model", 0, program)
    except Refused:
        return None
    if scope is not None and program.scope is None:  # no layer uses the scope
        builder, level = _build(program, runner)
    first_program = program
    if prepares and not program.clone_arguments and program.scope is None and frame.number(2):
        program, builder, level = _prepare(program, builder, level, frame, catalogue.objects)
    try:
        builder.evaluate(level, program)
    except Refused:
        if not program.preparations:
            raise
        program = first_program
        builder, level = _build(program, runner)
        builder.evaluate(level, program)
    return graph_of(program, builder)


def _draw_outputs(frame: Choices, level: Level, ends: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Choose unused tensors and, in one case of six, any tensor."""
    outputs = list(ends) if frame.number(4) < 3 else [frame.pick(ends)]
    if frame.chance(6):
        outputs.append(frame.pick(level.tensors()))
    return tuple(outputs[:4])


def _prepare(
    program: Program, builder: Builder, level: Level, frame: Choices, objects: Objects
) -> tuple[Program, Builder, Level]:
    """Add up to three preparations that Keras accepts."""
    count = 1 + frame.chance(4) + frame.chance(16)
    draft = prepare.Draft(program, level, objects)
    for number in range(2 * count):
        preparation = prepare.draw_preparation(frame, draft)
        proposal = replace(program, preparations=(*program.preparations, preparation))
        is_repeated = preparation.does in {earlier.does for earlier in program.preparations}
        if is_repeated or why_undefined(proposal) or len(program.preparations) > number // 2:
            continue
        with contextlib.suppress(Refused):
            if preparation.does == "adapt" and preparation.on is not None:
                proposal = replace(proposal, body=prepare.remove_adapted_arguments(proposal.body, preparation.on))
                return proposal, *_build(proposal, builder.runner)
            with builder.attempt(level):
                builder.prepare(level, preparation)
            program = proposal
    return program, builder, level


def rebuild(program: Program, runner: LineRunner) -> Graph:
    """Build a program exactly as it is. Raise `Refused` if Keras refuses a part."""
    return graph_of(program, _build(program, runner)[0])


def _build(program: Program, runner: LineRunner) -> tuple[Builder, Level]:
    builder = Builder(program.generation, runner, program.scope)
    level = Level(linear=program.sequential)
    for instruction in program.body:
        count = max((-node for node, _ in instruction.tensors if node < 0), default=0)
        for spec in program.inputs[len(level.inputs) : max(count, not level.inputs)]:
            builder.add_input(level, spec)
        builder.add_instruction(level, instruction)
    for spec in program.inputs[len(level.inputs) :]:
        builder.add_input(level, spec)
    builder.make_model(level, "model", 0, program)
    for preparation in program.preparations:
        builder.prepare(level, preparation)
    return builder, level


def graph_of(program: Program, builder: Builder) -> Graph:
    """The graph of a program that was built."""
    arguments = {}
    if program.clone_arguments:
        texts = prepare.clone_arguments(program)
        arguments = {name: builder.fill(text) for name, text in texts.items()}
    scope = program.scope
    scopes = (builder.scope_text(),) if scope is not None and scope.part in ("clone", "both") else ()
    return Graph(program, builder.source(" ".join(arguments.values())), arguments, scopes)
