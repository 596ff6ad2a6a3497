"""The graph in the making: its layers, calls and inputs so far, and which tensor each register holds.

Owns where a tensor stands, what its spec is, and how the ends of the model are arranged. A call is taken up where Keras
accepts it; which calls there are to ask about, `building` says.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import structs

from clonediff.strategies.asking import keras, large, question, spec_of
from clonediff.strategies.graph import Call, Graph, Input, Items, Layer, Ref, Seq, Value, call_refs
from clonediff.strategies.kinds import Spec, Specs
from clonediff.strategies.programs import REGISTERS, Arrangement, Domain
from clonediff.strategies.pruning import moved_call

Offer = tuple[Layer, Call]
"""A call of a layer that Keras is asked about."""


class GraphSoFar:
    """What the instructions up to now have made, and the tensors that the next one finds."""

    def __init__(self, inputs: tuple[Input, ...], specs: Specs, domain: Domain, room: int = 0) -> None:
        """`room` is for so many inputs more."""
        self.domain = domain
        self.kinds = domain.kinds
        self.inputs = inputs
        self.room = room
        self.added: list[Input] = []
        self.layers: list[Layer] = []
        self.calls: list[Call] = []
        self.specs: list[Specs] = [(spec,) for spec in specs]
        self.added_specs: list[Specs] = []
        self.registers = [Ref(min(place, len(inputs) - 1)) for place in range(REGISTERS)]
        self.newest = 0
        self.names: set[str] = set()

    def spec(self, ref: Ref) -> Spec:
        return (self.specs[ref.node] if ref.node >= 0 else self.added_specs[~ref.node])[ref.output]

    def place(self, register: int) -> int:
        """The register that an instruction means: 0 is the one written last."""
        return self.newest if register == 0 else (register - 1) % REGISTERS

    def named(self, register: int) -> Ref:
        """What the register that an instruction means holds."""
        return self.registers[self.place(register)]

    def tensors(self) -> Iterator[Ref]:
        """Every tensor so far, the newest first; inputs that were added stand below zero until the graph is made."""
        for node in range(len(self.specs) - 1, -1, -1):
            for output in range(len(self.specs[node])):
                yield Ref(node, output)
        for number in range(len(self.added)):
            yield Ref(~number)

    def ends(self, outputs: tuple[Ref, ...]) -> tuple[Ref, ...]:
        """The tensors that calls gave and nothing uses, the newest first."""
        used = {*outputs, *(ref for call in self.calls for ref in call_refs(call))}
        return tuple(ref for ref in self.tensors() if ref.node >= len(self.inputs) and ref not in used)

    def made(self, ref: Ref) -> Ref:
        """The tensor, or the newest one if that is an input, which Keras 3 cannot build an inner model to give back."""
        return ref if ref.node >= len(self.inputs) else Ref(len(self.specs) - 1)

    def graph(
        self, outputs: tuple[Ref, ...], takes: Arrangement = "plain", gives: Arrangement = "plain", *, frozen: bool
    ) -> Graph:
        first, more = len(self.inputs), len(self.added)

        def move(ref: Ref) -> Ref:
            node = ref.node if 0 <= ref.node < first else first + ~ref.node if ref.node < 0 else ref.node + more
            return Ref(node, ref.output)

        inputs = (*self.inputs, *self.added)
        if takes == "dict":
            inputs = tuple(structs.replace(given, name=f"in_{place}") for place, given in enumerate(inputs))
        return Graph(
            inputs=inputs,
            layers=tuple(self.layers),
            calls=tuple(moved_call(call, move) for call in self.calls) if more else tuple(self.calls),
            takes=_arranged(tuple(Ref(place) for place in range(len(inputs))), takes, "in"),
            gives=_arranged(tuple(move(ref) for ref in outputs), gives, "out"),
            trainable=not frozen,
        )

    def _distinct(self, choices: Iterable[tuple[Ref, ...]]) -> Iterator[tuple[tuple[Ref, ...], Specs]]:
        """Tensors that are not like others before, and what they are like."""
        met = set[Specs]()
        for sources in choices:
            specs = tuple(self.spec(ref) for ref in sources)
            if specs not in met:
                met.add(specs)
                yield sources, specs

    def _sources(self, wanted: tuple[int, ...]) -> Iterator[tuple[Ref, ...]]:
        """The tensors wanted, then those of the registers after them, then any there is, several times."""
        for turn in range(REGISTERS):
            yield tuple(self.registers[(self.place(each) + turn) % REGISTERS] for each in wanted)
        if len(wanted) > 1:
            for turn in range(REGISTERS):
                yield (self.registers[(self.place(wanted[0]) + turn) % REGISTERS],) * len(wanted)
        for ref in self.tensors():
            yield (ref,) * len(wanted)

    def _take(self, offers: Iterable[Offer], dest: int) -> bool:
        """Make the first call that Keras accepts; from that register on there is what it gives."""
        for layer, call in offers:
            earlier = [each for each in self.calls if each.layer == call.layer]
            specs = keras().gives(question(layer, (*earlier, call), self.spec))
            if specs is None:
                continue
            if call.layer == len(self.layers):
                self.layers.append(layer)
                self.names.update(() if layer.name is None else (layer.name,))
            self.calls.append(structs.replace(call, outputs=len(specs)))
            self.specs.append(large(specs))
            node = len(self.inputs) + len(self.calls) - 1
            for output in range(min(len(specs), REGISTERS)):
                self.registers[(dest + output) % REGISTERS] = Ref(node, output)
            self.newest = dest % REGISTERS
            return True
        return False

    def _add(self, given: Input) -> Ref:
        self.added.append(given)
        self.added_specs.append((spec_of(given),))
        return Ref(-len(self.added))

    def _forget_added(self, added: int) -> None:
        del self.added[added:], self.added_specs[added:]


def _arranged(tensors: tuple[Ref, ...], how: Arrangement, stem: str) -> Value:
    """Tensors nested as an arrangement says."""
    match how:
        case "plain":
            return tensors[0] if len(tensors) == 1 else Seq(tensors)
        case "list":
            return Seq(tensors)
        case "tuple":
            return Seq(tensors, "tuple")
        case "dict":
            return Items(tuple((f"{stem}_{place}", ref) for place, ref in enumerate(tensors)))
        case "nested":
            return Seq((tensors[0], Seq(tensors[1:], "tuple"))) if len(tensors) > 1 else Seq(tensors)
