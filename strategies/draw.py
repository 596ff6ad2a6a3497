"""Drawing is building: each instruction is a few proposals, and the first that Keras accepts stays.

Keras accepts a call that it makes on symbolic tensors, and on numbers, too.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from clonediff.strategies import prepare
from clonediff.strategies.build import Builder, Keras, Level, Output, Refused, snake_case
from clonediff.strategies.choices import Choices, Source
from clonediff.strategies.functions import FORMS, sort_of
from clonediff.strategies.kind import INPUTS, OTHERS, USUAL, Kind
from clonediff.strategies.lambdas import LambdaSketch, lambda_sketch
from clonediff.strategies.objects import Objects, drawn_object
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
    Nest,
    Own,
    Program,
    Scope,
    Tensor,
)
from clonediff.strategies.undefined import why_undefined
from clonediff.strategies.values import ALONE, LAYER_ARGUMENTS, NEEDS

_LENGTHS = (1, 1, 1, 2, 2, 2, 3, 3, 4, 5)
"""How many instructions a model has."""
MOST_CALLS = 5
"""The calls of a model, those in its models among them."""
MOST_INPUTS = 3
_TENSORS = 2
"""How many choices of tensors an instruction is tried on, before it gets an input of its own."""
_TOUCHES = (
    *("", "", "", "", "named", "frozen", "frozen after", "dtype", "policy", "policy map", "autocast"),
    "regularized",
)
"""What a layer is given beside its arguments."""
_WRITTEN = ("<", "lambda", "functools.", "ops.")
"""How the text of a function begins, which may be set once the layer is made."""
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
    def turns(self) -> list[tuple[Kind, str]]:
        """The kinds, as often as each is drawn; then each with an argument that it is given, one as often as another.

        The latter are about as many.
        """
        kinds = [(kind, "") for kind in self.kinds.values() for _ in range(kind.weight)]
        pairs = [(kind, argument) for kind in self.kinds.values() for argument in kind.more for _ in range(kind.share)]
        return kinds + pairs * round(len(kinds) / max(1, len(pairs)))


@dataclass(frozen=True)
class _Sketch:
    """A call that is drawn, before it is known on which tensors."""

    arguments: Arguments
    after: tuple[str, ...] = ()
    call: Arguments = ()
    extra: str = ""
    function: LambdaSketch | None = None

    def on(self, kind: Kind, tensors: tuple[Tensor, ...], output: Output) -> Apply:
        """The call on these tensors, of which the first is like that output."""
        arguments, definitions = self.arguments, Arguments()
        if self.function is not None:
            made, definitions = self.function.arguments(len(tensors), len(output.shape))
            arguments = (*made, *arguments)
        count = len(tensors)
        return Apply(kind.name, arguments, tensors, count, kind.packing(count), self.call, self.after, definitions)


class Drawing:
    """A program that is drawn beside a Keras."""

    def __init__(
        self, catalogue: Catalogue, keras: Keras, parts: Iterator[Choices], scope: Scope | None = None
    ) -> None:
        self.catalogue = catalogue
        self.builder = Builder(catalogue.generation, keras, scope)
        self.parts = parts
        self.scope = scope
        self.scope_used = False
        self.calls = 0
        self.input_names = ""

    def body(self, level: Level, count: int) -> list[Instruction]:
        """The instructions that Keras accepts, of this many that are drawn."""
        body = []
        for choices in itertools.islice(self.parts, count):
            if self.calls < MOST_CALLS and (instruction := self._instruction(level, choices)) is not None:
                body.append(instruction)
        return body

    def _instruction(self, level: Level, choices: Choices) -> Instruction | None:
        verb = choices.number(16)
        layers = [at for at, layer in enumerate(level.layers) if layer]
        if verb >= 14 and layers:
            return self._again(level, choices, layers)
        nests = verb in (12, 13) and not level.stem and not level.chain
        return self._nest(level, choices) if nests else self._apply(level, choices)

    def _take(self, level: Level, offers: Iterable[Instruction]) -> Instruction | None:
        for offer in offers:
            with contextlib.suppress(Refused):
                self.builder.do(level, offer)
                self.calls += 1
                if isinstance(offer, Apply) and self._scoped in dict(offer.arguments).values():
                    self.scope_used = True
                return offer
        return None

    # -- a new layer, or an operation

    def _apply(self, level: Level, choices: Choices) -> Instruction | None:
        kind, argument = choices.pick(self.catalogue.turns)
        least, most = kind.takes
        count = 1 if kind.packed == "any" and choices.number(4) < 3 else least + choices.number(most - least + 1)
        if level.chain and (count > 1 or is_operation(kind.name)):
            return None
        places = self._places(level, choices, kind, count)
        drawn, plain = self._sketches(level, choices, kind, argument)
        # What is drawn is tried in all places before it is given up for what is plain.
        for sketches in (drawn, (plain,)):
            for place in places:
                if offer := self._at(level, place, count, kind, sketches):
                    return offer
        return None

    def _places(self, level: Level, choices: Choices, kind: Kind, count: int) -> list[tuple[Tensor, ...] | str]:
        """The tensors to call a kind on: those that are there, then a new input by its name."""
        there = itertools.islice(self._there(level, choices, kind, count), _TENSORS)
        own_input, inputs = choices.chance(8), self._inputs(kind, choices)
        is_full = len(level.inputs) >= (1 if level.chain else MOST_INPUTS)
        if not level.inputs or (own_input and not is_full):
            return [*inputs]
        return [*there, *(() if level.stem or is_full else inputs)]

    def _at(
        self, level: Level, place: tuple[Tensor, ...] | str, count: int, kind: Kind, sketches: Sequence[_Sketch]
    ) -> Instruction | None:
        """The first of several calls that Keras accepts on these tensors, or on this new input."""
        if not isinstance(place, str):
            return self._take(level, (each for sketch in sketches for each in self._offers(level, sketch, kind, place)))
        with contextlib.suppress(Refused), self.builder.attempt(level):
            self._new_input(level, INPUTS[place])
            if offer := self._at(level, ((-len(level.inputs), 0),) * count, count, kind, sketches):
                return offer
            raise Refused("on this input")
        return None

    def _new_input(self, level: Level, spec: Input) -> None:
        name = self.input_names.format(len(level.inputs)) or None
        self.builder.take(level, replace(spec, name=name))

    @staticmethod
    def _inputs(kind: Kind, choices: Choices) -> list[str]:
        names = kind.inputs or tuple(dict.fromkeys((choices.pick(USUAL), "sequence", "vector", "image", "ids")))
        start = choices.number(len(names)) if kind.inputs and kind.inputs is not OTHERS else 0
        return list(names[start:] + names[:start])

    @staticmethod
    def _there(level: Level, choices: Choices, kind: Kind, count: int) -> Iterator[tuple[Tensor, ...]]:
        """The newest tensors, or those that are drawn; then others that are not like them."""
        start, second = choices.pick((0, 0, 0, 1, 2)), choices.number(8)
        outputs = {tensor: level.output(tensor) for tensor in level.tensors()[: 1 if level.chain else None]}
        no_words = is_operation(kind.name)
        there = [tensor for tensor, output in outputs.items() if output.dtype != "string" or not no_words]
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

    def _sketches(self, level: Level, choices: Choices, kind: Kind, argument: str) -> tuple[list[_Sketch], _Sketch]:
        """The call as it is drawn, then with that argument alone; and the plainest one."""
        base, function = choices.pick(kind.bases), lambda_sketch(choices) if kind.family == "lambda" else None
        chosen = self._values(choices, kind, argument) if argument else {}
        arguments = {**dict(base), **chosen}
        for _ in range(choices.pick((0, 0, 0, 1, 2)) if kind.more else 0):
            further = self._values(choices, kind, choices.pick(list(kind.more)))
            arguments = {**further, **arguments} if argument in further else {**arguments, **further}
        after: tuple[str, ...] = ()
        if not is_operation(kind.name):
            after = self._touch(choices, kind, arguments, len(level.nodes))
            self._in_scope(kind, arguments)
        calls = [(name, choices.pick(texts)) for name, texts in kind.call.items()]
        call = tuple((name, text) for name, text in calls if text and not level.chain)
        extra = "" if level.chain else choices.pick(("", "", *kind.extra))
        usual = tuple((name, texts[0]) for name, texts in kind.call.items() if texts[0] and not level.chain)
        drawn = _Sketch(tuple(arguments.items()), after, call, extra, function)
        alone = [tuple({**dict(one), **chosen}.items()) for one in (base, kind.bases[0]) if chosen]
        plain = _Sketch(kind.bases[0], call=usual, function=function)
        return [drawn, *(_Sketch(each, call=usual, function=function) for each in dict.fromkeys(alone))], plain

    def _values(self, choices: Choices, kind: Kind, name: str) -> dict[str, str]:
        """A value of an argument, with that of another which it needs; an object that is shared is given twice."""
        sort, given = sort_of(name), {}
        text = choices.pick(kind.more[name])
        if sort and choices.number(2):
            of_keras = sort in _OF_KERAS and choices.number(2)
            text = drawn_object(sort, self.catalogue.objects, choices) if of_keras else ""
            text = text or choices.pick(tuple(FORMS[sort].values()))
        if name in NEEDS and not (name in ALONE and choices.number(2)):
            given[NEEDS[name][0]] = NEEDS[name][1]
        given[name] = text
        if text.startswith("<shared_"):
            others = [second for second in kind.more if sort_of(second) == sort and second != name]
            given.update(dict.fromkeys(others[:1], text))
        return given

    def _touch(self, choices: Choices, kind: Kind, arguments: dict[str, str], number: int) -> tuple[str, ...]:
        """Give a layer what every layer takes, or what is set once it is made; the lines that set it."""
        touch, after = choices.pick(_TOUCHES), list[str]()
        if touch in LAYER_ARGUMENTS:
            name, texts = LAYER_ARGUMENTS[touch]
            arguments[name] = choices.pick(texts)
        elif touch == "named":
            arguments["name"] = f'"my_{snake_case(kind.name.rpartition(":")[2].rpartition(".")[2])}{number or ""}"'
        elif touch == "frozen":
            arguments["trainable"] = "False"
        elif touch == "frozen after":
            after.append("trainable = False")
        functions = [name for name, text in arguments.items() if sort_of(name) and text.startswith(_WRITTEN)]
        if functions and choices.chance(4):
            after += [f"{name} = {arguments.pop(name)}" for name in functions if name in kind.more]
        if kind.name == "DropMask" and choices.number(2):
            after.append("supports_masking = True")
        return tuple(after)

    def _in_scope(self, kind: Kind, arguments: dict[str, str]) -> None:
        """Give a layer the function that is found in a scope: by its name, where the model is made there."""
        if self.scope is None or self.scope_used or self.scope.name in self.catalogue.kinds:
            return
        takes = [name for name in kind.more if sort_of(name) == _SCOPED.get(self.scope.name)]
        if takes:
            arguments[takes[0]] = self._scoped

    @property
    def _scoped(self) -> str:
        if self.scope is None:
            return ""
        return f"<{self.scope.name}>" if self.scope.within == "clone" else f'"{self.scope.name}"'

    def _offers(self, level: Level, sketch: _Sketch, kind: Kind, tensors: tuple[Tensor, ...]) -> Iterator[Apply]:
        """The call on these tensors, with a mask or a state and without it."""
        output = level.output(tensors[0])
        offer = sketch.on(kind, tensors, output)
        if sketch.extra == "mask":
            yield from self._masked(level, offer, output)
        elif sketch.extra == "initial_state":
            yield from self._with_states(level, offer)
        yield offer

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

    def _again(self, level: Level, choices: Choices, layers: list[int]) -> Instruction | None:
        layer = layers[-1 - choices.number(min(4, len(layers)))]
        call: Arguments = () if level.chain else choices.pick(((), (("training", "True"),), (("by", "2.0"),), ()))
        there = level.tensors()[:1] if level.chain else level.tensors()
        start, second = choices.pick((0, 0, 1, 2)), choices.number(8)
        offers = []
        for turn in range(min(3, len(there))):
            first = there[(start + turn) % len(there)]
            alike = [tensor for tensor in there if level.output(tensor)[1:3] == level.output(first)[1:3]]
            others = (alike[(second + number) % len(alike)] for number in range(level.calls[layer].tensors - 1))
            tensors = (first, *others)
            offers += [Again(layer, tensors, arguments) for arguments in dict.fromkeys((call, ()))]
        return self._take(level, offers)

    def _nest(self, level: Level, choices: Choices) -> Instruction | None:
        sequential = choices.number(3) == 1
        own: Own = choices.pick((*_NO_CLASS, "plain", "option"))
        touch, extra = choices.pick(("", "", "", "named", "frozen", "")), choices.pick(("",) * 6 + ("training",))
        builder, calls, spec = self.builder, self.calls, INPUTS[choices.pick(USUAL)]
        own = "plain" if own == "option" and (sequential or self.catalogue.generation != "keras") else own
        try:
            with builder.attempt(level):
                if not level.inputs:
                    self._new_input(level, spec)
                there = level.tensors()
                count = 1 if sequential else 1 + choices.number(2)
                tensors = tuple(choices.pick(there) for _ in range(count))
                inner, begin = builder.open_nest(level, tensors, sequential)
                body = self.body(inner, choices.pick((1, 1, 2, 3)))
                if not body:
                    raise Refused("an empty model")
                ends = _ends(inner, body)
                chosen = ends[-1:] if sequential else ends[:1] if choices.number(3) == 2 else ends
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


def draw(source: Source, catalogue: Catalogue, keras: Keras) -> Graph | None:
    """The model that choices mean, None where Keras accepts none; `Refused` if it does not run."""
    frame = source.frame
    count = frame.pick(_LENGTHS)
    sequential, named, frozen = frame.chance(8), frame.chance(8), frame.chance(8)
    takes, gives = frame.pick(_ARRANGEMENTS), frame.pick(_ARRANGEMENTS)
    own: Own = frame.pick((*_NO_CLASS, *_NO_CLASS, *_NO_CLASS, "plain", "option", "step", "compile"))
    more = catalogue.cloned_with_more
    recipe = frame.pick(prepare.CLONE_ARGUMENTS) if frame.chance(8) and more and not own else ""
    possible = Scope(frame.pick((*_SCOPED, "Scale", "Span", "Shift")), frame.pick(("clone", "model", "both")))
    scope = possible if frame.chance(16) and more and not recipe else None
    drawing = Drawing(catalogue, keras, source.parts, scope)
    drawing.input_names = "in_{}" if takes == "dict" else "x{}" if frame.chance(8) or recipe else ""
    level = Level(chain=sequential)
    body = drawing.body(level, count)
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
        "plain" if own == "option" and (sequential or catalogue.generation != "keras") else own,
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
    if scope is not None and program.scope is None:  # nothing was found in it
        builder, level = _followed(program, keras)
    plain = program
    if more and not program.clone_arguments and program.scope is None and frame.number(2):
        program, builder, level = _prepared(program, builder, level, frame, catalogue.objects)
    try:
        builder.test(level, program)
    except Refused:
        if not program.preparations:
            raise
        program = plain
        builder, level = _followed(program, keras)
        builder.test(level, program)
    return graph_of(program, builder)


def _outputs(frame: Choices, level: Level, ends: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """The tensors that nothing takes, or some of them; now and then one more, or one twice."""
    chosen = list(ends) if frame.number(4) < 3 else [frame.pick(ends)]
    if frame.chance(6):
        chosen.append(frame.pick(level.tensors()))
    return tuple(chosen[:4])


def _prepared(
    program: Program, builder: Builder, level: Level, frame: Choices, objects: Objects
) -> tuple[Program, Builder, Level]:
    """The program with one preparation as a rule, and three at most, that Keras can do."""
    count = 1 + frame.chance(4) + frame.chance(16)
    model = prepare.Model(program.body, level, len(program.outputs), program.gives, objects)
    for number in range(2 * count):
        preparation = prepare.drawn(frame, model)
        offer = replace(program, preparations=(*program.preparations, preparation))
        repeated = preparation.does in {earlier.does for earlier in program.preparations}
        if repeated or why_undefined(offer) or len(program.preparations) > number // 2:
            continue
        with contextlib.suppress(Refused):
            if preparation.does == "adapt" and preparation.on is not None:
                offer = replace(offer, body=prepare.unlearned(offer.body, preparation.on))
                return offer, *_followed(offer, builder.keras)
            with builder.attempt(level):
                builder.prepare(level, preparation)
            program = offer
    return program, builder, level


def rebuild(program: Program, keras: Keras) -> Graph:
    """Build a program exactly; what Keras refuses of it raises `Refused`."""
    return graph_of(program, _followed(program, keras)[0])


def _followed(program: Program, keras: Keras) -> tuple[Builder, Level]:
    """What has built a program, and its model."""
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
    return builder, level


def graph_of(program: Program, builder: Builder) -> Graph:
    """A program that was built."""
    arguments = {}
    if program.clone_arguments:
        texts = prepare.clone_arguments(program)
        arguments = {name: builder.text(text) for name, text in texts.items()}
    scope = program.scope
    within = (builder.scope_text(),) if scope is not None and scope.within in ("clone", "both") else ()
    return Graph(program, builder.source(" ".join(arguments.values())), arguments, within)
