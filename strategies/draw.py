"""Drawing is building: each instruction is a few proposals, and the first that Keras accepts stays.

What is drawn are bytes. When they end, the program stands, and so do its source and its model.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from . import prepare
from .build import Builder, Keras, Level, Output, Refused, snake_case
from .digits import Digits
from .functions import FORMS, sort_of
from .kind import INPUTS, OTHERS, USUAL, Kind
from .lambdas import lambda_arguments
from .objects import Objects, drawn_object
from .operations import is_operation
from .program import (
    Again,
    Apply,
    Arguments,
    Arrangement,
    Generation,
    Graph,
    Input,
    Instruction,
    Nest,
    Own,
    Program,
    Scope,
    Tensor,
)
from .undefined import why_undefined
from .values import ALONE, LAYER_ARGUMENTS, NEEDS

MOST_CALLS = 5
"""The calls of a model, those in its models among them."""
MOST_INPUTS = 3
_TENSORS = 2
"""So many choices of tensors an instruction is tried on, before it gets an input of its own."""
_TOUCHES = (
    *("", "", "", "attributes", "named", "frozen", "frozen after", "dtype", "policy", "policy map", "autocast"),
    "regularized",
)
"""What a layer is given beside its arguments."""
_ARRANGEMENTS: tuple[Arrangement, ...] = (*("plain",) * 4, "list", "tuple", "dict", "nested")


@dataclass(frozen=True)
class Catalogue:
    """What a release has: its `kinds`, and its `objects`, such as optimizers."""

    generation: Generation
    kinds: Mapping[str, Kind]
    objects: Objects
    cloned_with_more: bool = True
    """Whether models are prepared, and cloned with arguments."""
    missing: frozenset[str] = frozenset()
    """The recipes of `CLONE_ARGUMENTS` of which `clone_model` lacks an argument."""

    @functools.cached_property
    def by_weight(self) -> list[Kind]:
        """The kinds, as often as each is drawn."""
        return [kind for kind in self.kinds.values() for _ in range(kind.weight)]


class Drawing:
    """A program that is drawn beside a Keras."""

    def __init__(self, catalogue: Catalogue, keras: Keras, scope: Scope | None = None) -> None:
        self.catalogue = catalogue
        self.builder = Builder(catalogue.generation, keras, scope)
        self.scope = scope
        self.scope_used = False
        self.calls = 0
        self.input_names = ""

    def body(self, level: Level, parts: Sequence[Digits]) -> list[Instruction]:
        """The instructions that Keras accepts of those that are drawn."""
        body = []
        for digits in parts:
            if self.calls < MOST_CALLS and (instruction := self._instruction(level, digits)) is not None:
                body.append(instruction)
        return body

    def _instruction(self, level: Level, digits: Digits) -> Instruction | None:
        verb = digits.number(16)
        layers = [at for at, layer in enumerate(level.layers) if layer]
        if verb >= 14 and layers:
            return self._again(level, digits, layers)
        nests = verb in (12, 13) and not level.stem and not level.chain
        return self._nest(level, digits) if nests else self._apply(level, digits)

    def _take(self, level: Level, offers: Iterator[Instruction]) -> Instruction | None:
        for offer in offers:
            with contextlib.suppress(Refused):
                self.builder.do(level, offer)
                self.calls += 1
                return offer
        return None

    # -- a new layer, or an operation

    def _apply(self, level: Level, digits: Digits) -> Instruction | None:
        kind = digits.pick(self.catalogue.by_weight)
        least, most = kind.takes
        count = 1 if kind.packed == "any" and digits.number(4) < 3 else least + digits.number(most - least + 1)
        if level.chain and (count > 1 or is_operation(kind.name)):
            return None
        there = [tensors for tensors in self._choices(level, digits, kind, count) if level.inputs]
        data = Digits(digits.rest())
        own_input = not level.chain and len(level.inputs) < MOST_INPUTS and digits.chance(8)
        for tensors in there[: 0 if own_input else _TENSORS]:
            if offer := self._take(level, self._offers(level, data.again(), kind, tensors)):
                return offer
        if level.stem or (level.chain and level.inputs) or len(level.inputs) >= MOST_INPUTS:
            return None
        for name in self._inputs(kind, digits):
            with contextlib.suppress(Refused), self.builder.attempt(level):
                self._new_input(level, INPUTS[name])
                tensors = ((-len(level.inputs), 0),) * count
                if offer := self._take(level, self._offers(level, data.again(), kind, tensors)):
                    return offer
                raise Refused("on this input")
        return None

    def _new_input(self, level: Level, spec: Input) -> None:
        name = self.input_names.format(len(level.inputs)) or None
        self.builder.take(level, replace(spec, name=name))

    def _inputs(self, kind: Kind, digits: Digits) -> list[str]:
        names = kind.inputs or tuple(dict.fromkeys((digits.pick(USUAL), "sequence", "vector", "image", "ids")))
        start = digits.number(len(names)) if kind.inputs and kind.inputs is not OTHERS else 0
        return list(names[start:] + names[:start])

    def _choices(self, level: Level, digits: Digits, kind: Kind, count: int) -> Iterator[tuple[Tensor, ...]]:
        """The tensors to call a kind on: the newest, or those that are drawn; then others that are not like them."""
        outputs = {tensor: level.output(tensor) for tensor in level.tensors()[: 1 if level.chain else None]}
        no_words = is_operation(kind.name)
        there = [tensor for tensor, output in outputs.items() if output.dtype != "string" or not no_words]
        start, second = digits.pick((0, 0, 0, 1, 2)), digits.number(8)
        if kind.inputs and kind.inputs is not OTHERS:
            wanted = {(len(INPUTS[name].shape), INPUTS[name].dtype) for name in kind.inputs}
            there = [tensor for tensor in there if (len(outputs[tensor].shape), outputs[tensor].dtype) in wanted]
        met = set()
        for turn in range(len(there)):
            first = there[(start + turn) % len(there)]
            like = outputs[first][1:]
            if like not in met:
                met.add(like)
                alike = [tensor for tensor in there if outputs[tensor][1:3] == like[:2]]
                yield (first, *(alike[(second + number) % len(alike)] for number in range(count - 1)))

    def _offers(self, level: Level, digits: Digits, kind: Kind, tensors: tuple[Tensor, ...]) -> Iterator[Instruction]:
        """The call as it is drawn, with a mask or a state and without it; then the plainest one."""
        output = level.output(tensors[0])
        offer = Apply(kind.name, (), tensors, len(tensors), kind.packing(len(tensors)))
        arguments, after, definitions = dict(digits.pick(kind.bases)), list[str](), Arguments()
        if kind.family == "lambda":
            pairs, definitions = lambda_arguments(digits, len(tensors), len(output.shape))
            arguments = dict(pairs)
        plain = replace(
            offer, arguments=tuple(arguments.items()) if definitions else kind.bases[0], definitions=definitions
        )
        for name, text in self._further(digits, kind):
            if name in NEEDS and NEEDS[name][0] not in arguments and not (name in ALONE and digits.number(2)):
                arguments[NEEDS[name][0]] = NEEDS[name][1]
            arguments[name] = text
        if not is_operation(kind.name):
            self._touch(digits, kind, arguments, after, len(level.nodes))
            self._in_scope(kind, arguments)
        offer = replace(plain, arguments=tuple(arguments.items()), after=tuple(after))
        if not level.chain:
            plain = replace(plain, call=tuple((name, texts[0]) for name, texts in kind.call.items() if texts[0]))
            call = ((name, digits.pick(texts)) for name, texts in kind.call.items())
            offer = replace(offer, call=tuple((name, text) for name, text in call if text))
            extra = digits.pick(("", "", *kind.extra))
            if extra == "mask":
                yield from self._masked(level, offer, output)
            elif extra == "initial_state":
                yield from self._with_states(level, offer)
        yield offer
        yield plain

    def _further(self, digits: Digits, kind: Kind) -> Iterator[tuple[str, str]]:
        """Arguments that need not be given; an object that is shared is given twice."""
        names = list(kind.more)
        for _ in range(digits.pick((0, 0, 1, 1, 2)) if names else 0):
            name = digits.pick(names)
            sort, values = sort_of(name), kind.more[name]
            text = digits.pick(values)
            if sort and digits.number(8) >= 4:
                of_keras = sort in _OF_KERAS and digits.number(2)
                text = drawn_object(sort, self.catalogue.objects, digits) if of_keras else ""
                text = text or digits.pick(tuple(FORMS[sort].values()))
            yield name, text
            if text.startswith("<shared_"):
                others = [second for second in names if sort_of(second) == sort and second != name]
                yield from ((second, text) for second in others[:1])

    def _touch(self, digits: Digits, kind: Kind, arguments: dict[str, str], after: list[str], number: int) -> None:
        touch = digits.pick(_TOUCHES)
        if touch in LAYER_ARGUMENTS:
            name, texts = LAYER_ARGUMENTS[touch]
            arguments[name] = digits.pick(texts)
        elif touch == "named":
            arguments["name"] = f'"my_{snake_case(kind.name.rpartition(":")[2].rpartition(".")[2])}{number or ""}"'
        elif touch == "frozen":
            arguments["trainable"] = "False"
        elif touch == "frozen after":
            after.append("trainable = False")
        elif touch == "attributes":
            for name, text in list(arguments.items()):
                if sort_of(name) and name in kind.more and text.startswith(("<", "lambda", "functools.", "ops.")):
                    after.append(f"{name} = {arguments.pop(name)}")
        if kind.name == "DropMask" and digits.number(2):
            after.append("supports_masking = True")

    def _in_scope(self, kind: Kind, arguments: dict[str, str]) -> None:
        """Give a layer the function that is found in a scope: by its name, where the model is made there."""
        if self.scope is None or self.scope_used or self.scope.name in self.catalogue.kinds:
            return
        takes = [name for name in kind.more if sort_of(name) == _SCOPED.get(self.scope.name)]
        if takes:
            self.scope_used = True
            by_name = self.scope.within != "clone"
            arguments[takes[0]] = f'"{self.scope.name}"' if by_name else f"<{self.scope.name}>"

    def _masked(self, level: Level, apply: Apply, output: Output) -> Iterator[Apply]:
        """The call with a mask: a tensor that can be one."""
        for tensor in level.tensors():
            mask = level.output(tensor)
            if mask.dtype == "bool" and mask.shape == output.shape[:1] and output.shape:
                tensors = (*apply.tensors, tensor)
                yield replace(apply, tensors=tensors, call=(*apply.call, ("mask", f"<{len(apply.tensors)}>")))
                return
        if output.shape and not level.stem and len(level.inputs) < MOST_INPUTS:
            with contextlib.suppress(Refused), self.builder.attempt(level):
                self._new_input(level, Input(output.shape[:1], "bool", fill="mask"))
                yield from self._masked(level, apply, output)
                raise Refused("an input for a mask")

    def _with_states(self, level: Level, apply: Apply) -> Iterator[Apply]:
        """The layer as wide as the newest vector, which is its first state, or each of the two."""
        for tensor in level.tensors():
            shape = level.output(tensor).shape
            if len(shape) == 1 and shape[0] is not None:
                arguments = tuple((name, str(shape[0]) if name == "units" else text) for name, text in apply.arguments)
                wide = replace(apply, arguments=arguments, tensors=(*apply.tensors, tensor))
                yield replace(wide, call=(*apply.call, ("initial_state", "<1>")))
                yield replace(wide, call=(*apply.call, ("initial_state", "[<1>, <1>]")))
                return

    # -- a layer once more, and a model in the model

    def _again(self, level: Level, digits: Digits, layers: list[int]) -> Instruction | None:
        layer = layers[-1 - digits.number(min(4, len(layers)))]
        text = self.builder.first_call(level.layers[layer])
        count = 2 if ", " in text.partition("(")[2].partition("=")[0].rstrip(") ") else 1
        call: Arguments = () if level.chain else digits.pick(((), (("training", "True"),), (("by", "2.0"),), ()))
        there = level.tensors()[:1] if level.chain else level.tensors()
        start, second = digits.pick((0, 0, 1, 2)), digits.number(8)
        offers = []
        for turn in range(min(3, len(there))):
            first = there[(start + turn) % len(there)]
            alike = [tensor for tensor in there if level.output(tensor)[1:3] == level.output(first)[1:3]]
            tensors = (first, alike[second % len(alike)])[:count]
            offers += [Again(layer, tensors, arguments) for arguments in dict.fromkeys((call, ()))]
        return self._take(level, iter(offers))

    def _nest(self, level: Level, digits: Digits) -> Instruction | None:
        sequential = digits.number(3) == 1
        own: Own = digits.pick((*_NO_CLASS, "plain", "option"))
        touch, extra = digits.pick(("", "", "", "named", "frozen", "")), digits.pick(("",) * 6 + ("training",))
        builder, calls, spec = self.builder, self.calls, INPUTS[digits.pick(USUAL)]
        own = "plain" if own == "option" and (sequential or self.catalogue.generation != "keras") else own
        try:
            with builder.attempt(level):
                if not level.inputs:
                    self._new_input(level, spec)
                there = level.tensors()
                count = 1 if sequential else 1 + digits.number(2)
                tensors = tuple(there[digits.number(len(there))] for _ in range(count))
                inner, begin = builder.open_nest(level, tensors, sequential)
                data = [Digits(digits.rest(20)) for _ in range(digits.pick((1, 1, 2, 3)))]
                body = self.body(inner, data)
                if not body:
                    raise Refused("an empty model")
                ends = _ends(inner, body)
                chosen = ends[-1:] if sequential else ends[:1] if digits.number(3) == 2 else ends
                name = f"my_model{len(level.nodes) or ''}" if touch == "named" else None
                call: Arguments = (("training", "True"),) if extra == "training" else ()
                frozen = touch == "frozen"
                nest = Nest(tuple(body), tensors, tuple(chosen), sequential, own, name, frozen, call)
                builder.close_nest(level, nest, inner, begin)
                return nest
        except Refused:
            self.calls = calls
            return None


_NO_CLASS: tuple[Own, ...] = ("", "", "", "")
_OF_KERAS = ("initializer", "regularizer", "constraint")
_SCOPED: Mapping[str, str] = {"double": "activation", "halves": "initializer", "magnitude": "regularizer"}
"""The functions that may be found in a scope, with the sort of argument that takes them."""


def _ends(level: Level, body: Sequence[Instruction]) -> list[Tensor]:
    """The tensors that no instruction takes."""
    taken = {tensor for instruction in body for tensor in instruction.tensors}
    there = [(node, number) for node, outputs in enumerate(level.nodes) for number in range(len(outputs))]
    return [tensor for tensor in there if tensor not in taken]


def draw(parts: Sequence[bytes], catalogue: Catalogue, keras: Keras) -> Graph | None:
    """The model that bytes mean: those of the frame, then those of each instruction. None where Keras accepts none."""
    frame = Digits(parts[0])
    sequential, named, frozen = frame.chance(8), frame.chance(8), frame.chance(8)
    takes, gives = frame.pick(_ARRANGEMENTS), frame.pick(_ARRANGEMENTS)
    own: Own = frame.pick((*_NO_CLASS, *_NO_CLASS, *_NO_CLASS, "plain", "option"))
    more = catalogue.cloned_with_more
    recipe = frame.pick(prepare.CLONE_ARGUMENTS) if frame.chance(8) and more and not own else ""
    possible = Scope(frame.pick((*_SCOPED, "Scale", "Span", "Shift")), frame.pick(("clone", "model", "both")))
    scope = possible if frame.chance(16) and more and not recipe else None
    drawing = Drawing(catalogue, keras, scope)
    drawing.input_names = "in_{}" if takes == "dict" else "x{}" if frame.chance(8) or recipe else ""
    level = Level(chain=sequential)
    body = drawing.body(level, [Digits(part) for part in parts[1:]])
    if not body:
        return None
    ends = _ends(level, body)
    outputs = (ends[-1],) if sequential else _outputs(frame, level, ends)
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
        "plain" if own and (sequential or catalogue.generation != "keras") else own,
        scope=scope if drawing.scope_used or (scope and scope.name in catalogue.kinds) else None,
        clone_arguments=recipe if recipe not in catalogue.missing else "",
    )
    if why_undefined(program):
        program = replace(program, clone_arguments="")
    builder = drawing.builder
    try:
        builder.close(level, "model", 0, program)
    except Refused:
        return None
    if more and not program.clone_arguments and program.scope is None and frame.number(2):
        return _prepared(program, drawing, level, frame)
    return graph_of(program, builder)


def _outputs(frame: Digits, level: Level, ends: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """The tensors that nothing takes, or some of them; now and then one more, or one twice."""
    chosen = list(ends) if frame.number(4) < 3 else [frame.pick(ends)]
    if frame.chance(6):
        chosen.append(frame.pick(level.tensors()))
    return tuple(chosen[:4])


def _prepared(program: Program, drawing: Drawing, level: Level, frame: Digits) -> Graph:
    """The program with one preparation as a rule, and three at most, that Keras can do."""
    builder, count = drawing.builder, 1 + frame.chance(4) + frame.chance(16)
    model = prepare.Model(program.body, level, len(program.outputs), program.gives, drawing.catalogue.objects)
    for number in range(2 * count):
        preparation = prepare.drawn(frame, model)
        offer = replace(program, preparations=(*program.preparations, preparation))
        repeated = preparation.does in {earlier.does for earlier in program.preparations}
        if repeated or why_undefined(offer) or len(program.preparations) > number // 2:
            continue
        with contextlib.suppress(Refused):
            if preparation.does == "adapt" and preparation.on is not None:
                return rebuild(replace(offer, body=prepare.unlearned(offer.body, preparation.on)), builder.keras)
            with builder.attempt(level):
                builder.prepare(level, preparation)
            program = offer
    return graph_of(program, builder)


def rebuild(program: Program, keras: Keras) -> Graph:
    """Build a program exactly; what Keras refuses of it raises `Refused`."""
    builder = Builder(program.generation, keras, program.scope)
    level = Level(chain=program.sequential)
    for instruction in program.body:
        wanted = max((-node for node, _ in instruction.tensors if node < 0), default=0)
        for spec in program.inputs[len(level.inputs) : max(wanted, not level.inputs)]:
            builder.take(level, spec)
        builder.do(level, instruction)
    for spec in program.inputs[len(level.inputs) :]:
        builder.take(level, spec)
    builder.close(level, "model", 0, program)
    for preparation in program.preparations:
        builder.prepare(level, preparation)
    return graph_of(program, builder)


def graph_of(program: Program, builder: Builder) -> Graph:
    """A program that was built."""
    arguments = {}
    if program.clone_arguments:
        texts = prepare.clone_arguments(program)
        arguments = {name: builder.text(text) for name, text in texts.items()}
    scope = program.scope
    within = (builder.scope_text(),) if scope is not None and scope.within in ("clone", "both") else ()
    return Graph(program, builder.source(" ".join(arguments.values())), arguments, within)
