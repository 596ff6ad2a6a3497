"""What an instruction means on the tensors that it finds in the graph so far.

An instruction is a list of offers, of which the first stays that Keras accepts. One that wants several tensors and
finds a single one takes that several times; where Keras accepts none, it gets an input of its own, or is a no-op where
there is no room.
"""

from __future__ import annotations

import itertools
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from msgspec import structs

from clonediff.strategies.asking import Question, keras
from clonediff.strategies.chains import links
from clonediff.strategies.custom_models import of_custom_class
from clonediff.strategies.graph import Call, Input, Layer, Ref, Seq, Value, fed_refs
from clonediff.strategies.graph_so_far import GraphSoFar, Offer
from clonediff.strategies.kinds import LEFT_OUT, NO_SENSE, Kind, Spec, Specs
from clonediff.strategies.kinds.arguments import together, touched
from clonediff.strategies.kinds.forms import can_be_set
from clonediff.strategies.kinds.operations import is_operation
from clonediff.strategies.programs import REGISTERS, Again, Apply, Instruction, Nest
from clonediff.strategies.pruning import idle, pruned

ANYTHING = 8
"""One instruction in so many is tried on any tensors."""
TRIES_BESIDE = 2
"""On so many tensors a layer is tried with what is said beside its arguments; then it is called plainly."""
MOST_INPUTS = 3
"""On so many new inputs an instruction is tried at most."""
_USUAL: Mapping[int, tuple[tuple[int, ...], ...]] = {
    1: ((4,), (1,)),
    2: ((3, 4),),
    3: ((4, 4, 2), (4, 4, 3)),
}
"""For each rank, shapes of which a layer takes one if it takes any of that rank, unless it wants a square."""


def _listed(sources: tuple[Ref, ...]) -> tuple[Value, ...]:
    return (Seq(sources),) if len(sources) > 1 else sources


class Builder(GraphSoFar):
    """A graph that instructions are done to, one after the other."""

    def run(self, instruction: Instruction) -> None:
        match instruction:
            case Apply():
                self.apply(instruction)
            case Again():
                self.again(instruction)
            case Nest():
                self.nest(instruction)

    def apply(self, instruction: Apply) -> None:
        """Call a new layer on the first tensors that Keras takes it for, or on an input of its own."""
        if instruction.kind not in self.kinds:
            return
        known = self.kinds[instruction.kind].options
        least = tuple(
            (key, LEFT_OUT if LEFT_OUT in known.get(key, ()) else value) for key, value in instruction.options
        )
        plainest = replace(instruction, touch="", way="", more=(), options=least)
        plainer = (instruction, plainest) if instruction != plainest else (plainest,)
        dest = self._dest(instruction)
        # Now and then anything is tried: what a kind takes may go by its arguments.
        # Its text has the names of the fields of `Apply`: with another name, a seed draws other graphs.
        anything = zlib.crc32(repr(instruction).encode()) % ANYTHING == 0
        for each in plainer:
            wanted = enumerate(self._sources(each.sources))
            there = (at for turn, at in wanted if (anything and turn < TRIES_BESIDE) or self._kind_takes(each, at))
            # Where what is said beside is refused, it seldom is for the tensors.
            offers = itertools.islice(self._offers(each, there), None if each is plainest else TRIES_BESIDE)
            if self._take(offers, dest):
                return
        added, inputs = len(self.added), 0
        for given in self.domain.more_inputs if added < self.room else ():
            sources = (self._add(given),) * len(instruction.sources)
            inputs += (takes := self._kind_takes(instruction, sources))
            takes = takes and inputs <= MOST_INPUTS
            if takes and any(self._take(self._offers(each, [sources]), dest) for each in plainer):
                return
            self._forget_added(added)

    def _kind_takes(self, instruction: Apply, sources: tuple[Ref, ...]) -> bool:
        """Whether Keras takes a simple layer of the kind on tensors of that rank and dtype: this is soon known."""
        kind, spec = self.kinds[instruction.kind], self.spec(sources[0])
        call_options = tuple((key, values[0]) for key, values in kind.call_options.items() if values[0] != LEFT_OUT)
        call = Call(0, kind.packed(tuple(map(Ref, range(len(sources)))), instruction.how), call_options)
        square = spec.rank == 2 and spec.shape[0] == spec.shape[1]
        options = tuple((key, values[0]) for key, values in kind.options.items())
        simple = Apply(kind.name, instruction.sources, options=options, how=instruction.how)
        for shape in (spec.shape,) if square else _USUAL.get(spec.rank, (spec.shape,)):
            tensors = (Spec(shape, spec.dtype),) * len(sources)
            layer = _applied(kind, tensors, simple, 0)
            if layer is not None and keras().gives(Question(layer, tensors, (call,))) is not None:
                return True
        return False

    def _offers(self, instruction: Apply, choices: Iterable[tuple[Ref, ...]]) -> Iterator[Offer]:
        """The calls that an instruction may mean, on each choice of tensors."""
        kind = self.kinds[instruction.kind]
        for sources, specs in self._distinct(choices):
            layer = _applied(kind, specs, instruction, len(self.layers))
            if layer is None:
                continue
            plain = tuple((key, value) for key, value in instruction.call_options if value != LEFT_OUT)
            for wide, more in self._further_tensors(instruction, layer, specs):
                call = Call(len(self.layers), kind.packed(sources, instruction.how), (*plain, *more))
                yield self._named(wide) if instruction.touch == "named" else wide, call

    def _further_tensors(
        self, instruction: Apply, layer: Layer, specs: Specs
    ) -> Iterator[tuple[Layer, tuple[tuple[str, Value], ...]]]:
        """The layer with what else its call may be given: a mask, or its first states."""
        match instruction.way:
            case "mask":
                yield layer, tuple(self._mask(specs))
            case "initial_state":
                yield from self._initial_states(layer)
            case _:
                yield layer, ()

    def _dest(self, instruction: Apply | Again | Nest) -> int:
        """The register for what it gives."""
        return self.place(instruction.sources[0]) + instruction.dest

    def again(self, instruction: Again) -> None:
        """Call a layer once more, on the first tensors that Keras takes it for."""
        shared = [place for place, each in enumerate(self.layers) if each.graph or self.kinds[each.kind].shared]
        if not shared:
            return
        number = shared[-1 - instruction.back % len(shared)]
        first = next(call for call in self.calls if call.layer == number)
        count = len(list(fed_refs(first)))
        wanted = (*instruction.sources, *(0,) * count)[:count]
        self._take(self._again(instruction, number, self._sources(wanted)), self._dest(instruction))

    def _again(self, instruction: Again, number: int, choices: Iterable[tuple[Ref, ...]]) -> Iterator[Offer]:
        layer = self.layers[number]
        for sources, _ in self._distinct(choices):
            if layer.graph is not None:
                call = Call(number, _listed(sources))
            else:
                kind = self.kinds[layer.kind]
                given = (pair for pair in instruction.call_options if pair[0] in kind.call_options)
                call = Call(number, kind.packed(sources), tuple(pair for pair in given if pair[1] != LEFT_OUT))
            yield layer, call

    def nest(self, instruction: Nest) -> None:
        """Make a model and call it; a plainer one in a plainer way where Keras does not take that."""
        plainer = replace(instruction, custom_class=None, given="")
        if not self._nest(instruction) and plainer != instruction:
            self._nest(plainer)

    def _nest(self, instruction: Nest) -> bool:
        count = 1 if instruction.sequential else len(instruction.sources)
        sources = tuple(self.named(place) for place in instruction.sources[:count])
        specs = tuple(self.spec(ref) for ref in sources)
        with_mask = instruction.given == "mask" and len(specs) == 1
        taken = (replace(specs[0], mask=True),) if with_mask else specs
        inputs = tuple(Input(spec.shape, spec.dtype) for spec in specs)
        inner = Builder(inputs, taken, self.domain)
        for step in instruction.body:
            if instruction.sequential:
                inner.chain(step)
            else:
                inner.run(step)
        if not inner.calls:
            return False
        wanted = (0,) if instruction.sequential else instruction.outputs
        outputs = tuple(inner.made(inner.named(place)) for place in wanted)
        graph = inner.graph(outputs, frozen=instruction.touch in ("frozen", "frozen after"))
        graph = structs.replace(graph, sequential=True) if instruction.sequential else pruned(graph, keep_inputs=True)
        if instruction.custom_class is not None:
            graph = of_custom_class(graph, instruction.custom_class, self.domain.generation)
        idle_inputs = not idle(graph).isdisjoint(range(len(graph.inputs)))
        if not graph.calls or (idle_inputs and "idle inputs" in self.domain.missing):
            return False
        layer = Layer("Sequential" if instruction.sequential else "Model", graph=graph)
        added = len(self.added)
        kwargs: list[tuple[str, Value]] = [("training", True)] if instruction.given == "training" else []
        if with_mask:
            kwargs = self._mask(specs) or self._more_mask(specs[0])
        call = Call(len(self.layers), _listed(sources), tuple(kwargs))
        layer = self._named(layer) if instruction.touch == "named" else layer
        if self._take([(layer, call)], self._dest(instruction)):
            return True
        self._forget_added(added)
        return False

    def chain(self, instruction: Instruction) -> None:
        """As one more layer of a Sequential, if it takes one tensor, gives one and needs no further arguments."""
        if isinstance(instruction, Again) and instruction.sources[0] == 0:
            self._chain_again(instruction)
        if isinstance(instruction, Nest):
            self._link(replace(instruction, given="", sources=(0,), dest=0, outputs=instruction.outputs[:1]))
        if isinstance(instruction, Apply) and len(instruction.sources) == 1:
            kind = self.kinds[instruction.kind]
            if kind.shared and kind.listed(1) is False and "by" not in kind.call_options:
                self._link(replace(instruction, sources=(0,), dest=0, way="", call_options=(), how=None))

    def _link(self, instruction: Instruction) -> None:
        """Do it, unless it gives no link of the chain."""
        before = len(self.calls), len(self.layers), Ref(len(self.specs) - 1)
        self.run(instruction)
        self._unless_linked(*before)

    def _unless_linked(self, calls: int, layers: int, newest: Ref) -> None:
        """Take back the calls from that number on, unless the last is a link of the chain."""
        last = self.calls[-1] if len(self.calls) > calls else None
        if last is not None and not links(self.layers[last.layer], last, newest):
            del self.calls[calls:], self.layers[layers:], self.specs[newest.node + 1 :]
        self.newest = 0
        self.registers = [Ref(len(self.specs) - 1)] * REGISTERS

    def _chain_again(self, instruction: Again) -> None:
        """A layer of the Sequential once more, if it takes what is newest and gives one tensor."""
        newest = Ref(len(self.specs) - 1)
        made = [number for number, layer in enumerate(self.layers) if layer.graph is None]
        for number in made[-1 - instruction.back % max(1, len(made)) :]:
            call = Call(number, self.kinds[self.layers[number].kind].packed((newest,)))
            if self._take([(self.layers[number], call)], 0):
                self._unless_linked(len(self.calls) - 1, len(self.layers), newest)
                return

    def _named(self, layer: Layer) -> Layer:
        if layer.graph is None and not self.kinds[layer.kind].shared:
            return layer
        # A layer that is not Keras' own has a path before the name of its class.
        name = f"my_{re.split('[.:]', layer.kind)[-1].lower()}"
        while name in self.names:
            name += "_too"
        return structs.replace(layer, name=name)

    def _mask(self, specs: Specs) -> list[tuple[str, Value]]:
        for ref in self.tensors():
            if self.spec(ref).is_mask_of(specs[0]):
                return [("mask", ref)]
        return []

    def _more_mask(self, like: Spec) -> list[tuple[str, Value]]:
        """An input of its own for the mask of a tensor, where there is room for one."""
        if len(self.added) >= self.room or not like.shape:
            return []
        return [("mask", self._add(Input(like.shape[:1], "bool", fill="mask")))]

    def _initial_states(self, layer: Layer) -> Iterator[tuple[Layer, tuple[tuple[str, Value], ...]]]:
        """The layer made as wide as the newest vector there is, which is its first state, or each of the two."""
        for ref in self.tensors():
            spec = self.spec(ref)
            if spec.rank == 1 and spec.shape[0] is not None:
                args = tuple((key, spec.shape[0] if key == "units" else value) for key, value in layer.args)
                wide = structs.replace(layer, args=args)
                yield wide, (("initial_state", ref),)
                yield wide, (("initial_state", Seq((ref, ref))),)
                return


def _applied(kind: Kind, specs: Specs, instruction: Apply, number: int) -> Layer | None:
    """The layer of that kind, the model's of that number; None where no value can be made for the tensors."""
    drawn, more = dict(instruction.options), together(instruction.more)
    args: dict[str, Value] = {**drawn, **more}
    if kind.arrange is not None:
        try:
            made = kind.arrange(specs, args)
        except NO_SENSE:
            return None
        if made is None:
            return None
        args = made if is_operation(kind.name) else {**made, **more}
    touch = instruction.touch
    args = {**args, **touched(touch, number), **more}
    dtype = None if is_operation(kind.name) else args.pop("dtype", None)
    return Layer(
        kind.name,
        tuple((key, value) for key, value in args.items() if value != LEFT_OUT),
        trainable=touch != "frozen",
        dtype=dtype,  # type: ignore[arg-type]  # the values of a table
        marks=(touch,) if touch in _MARKS and (touch != "attributes" or _has_attributes(args)) else (),
    )


_MARKS = ("frozen after", "supports_masking", "attributes")


def _has_attributes(args: Mapping[str, Value]) -> bool:
    return any(can_be_set(key, value) for key, value in args.items())
