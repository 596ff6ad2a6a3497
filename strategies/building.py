"""A graph in the making: what an instruction means on the tensors that it finds.

One that wants several like tensors and finds a single one takes that several times; one that finds none that it takes
gets an input of its own, or is a no-op where there is no room.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from msgspec import structs

from strategies.calling import inner_inputs, meant, takes_axis
from strategies.chains import built_so, links
from strategies.cutting import cut_out
from strategies.graph import (
    Array,
    Axis,
    Call,
    Graph,
    Input,
    Layer,
    MalformedGraph,
    Ref,
    Seq,
    Value,
    call_refs,
    leaves,
    refs,
)
from strategies.inputs import around_others, arranged
from strategies.kinds import (
    LEFT_OUT,
    Generation,
    Kind,
    Spec,
    Specs,
    catalogue,
    fill,
    masked_by_call,
    more_masks,
    same_weights,
)
from strategies.kinds.images import scaled_apart
from strategies.kinds.recurrent import states
from strategies.layers import applied
from strategies.own_models import makes_parts, owned
from strategies.programs import REGISTERS, Again, Apply, Arrangement, Instruction, Nest, Program
from strategies.pruning import idle, moved_call, pruned
from strategies.special_inputs import ON_SPARSE, on_ragged
from strategies.typing import infer, spec_of

MASKED_LISTS = ("lambdas", "attention")
"""The families whose layers are given the masks of a list of tensors as a list."""


class Builder:
    """The graph so far, and which tensor each register holds."""

    def __init__(
        self,
        inputs: tuple[Input, ...],
        specs: Specs,
        names: set[str] | None = None,
        *,
        partial_masks: bool = True,
        idle_inputs: bool = True,
        shaped: bool = False,
        generation: Generation | None = None,
        more_inputs: tuple[Input, ...] = (),
        most_inputs: int = 0,
    ) -> None:
        self.generation = generation
        # A clone of Keras 2.2 loses the idle inputs of an inner model: one bug, which then breaks in any way at all.
        self.idle_inside = idle_inputs and generation != "keras2"
        self.kinds = catalogue(generation)
        self.partial_masks = partial_masks
        self.idle_inputs = idle_inputs
        self.shaped = shaped
        self.inputs = inputs
        self.more_inputs = more_inputs
        self.room = most_inputs - len(inputs)
        self.added: list[Input] = []
        self.layers: list[Layer] = []
        self.calls: list[Call] = []
        self.specs: list[Specs] = [(spec,) for spec in specs]
        self.added_specs: list[Specs] = []
        self.first: dict[int, Specs] = {}
        self.made_unasked = 0  # the layers that special inputs are given to first
        self.unshaped: list[int] = []  # what no call may use: Keras 3 tells another shape of it
        self.registers = [Ref(min(place, len(inputs) - 1)) for place in range(REGISTERS)]
        self.newest = 0
        self.names = names if names is not None else {given.name for given in inputs if given.name}

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
        for node in (each for each in range(len(self.specs) - 1, -1, -1) if each not in self.unshaped):
            for output in range(len(self.specs[node])):
                yield Ref(node, output)
        for number in range(len(self.added)):
            yield Ref(~number)

    def ends(self, outputs: tuple[Ref, ...]) -> tuple[Ref, ...]:
        """The tensors that calls gave and nothing uses, the newest first."""
        used = {*outputs, *(ref for call in self.calls for ref in call_refs(call))}
        unshaped = [Ref(node, output) for node in self.unshaped for output in range(len(self.specs[node]))]
        return tuple(ref for ref in (*unshaped, *self.tensors()) if ref.node >= len(self.inputs) and ref not in used)

    def run(self, instruction: Instruction) -> None:
        match instruction:
            case Apply():
                self.apply(instruction)
            case Again():
                self.again(instruction)
            case Nest():
                self.nest(instruction)

    def use_sparse(self) -> None:
        """Call a layer on each sparse input, whose register then holds what that gives."""
        for place, given in enumerate(self.inputs[:REGISTERS]):
            if given.sparse:
                self._applied_on(ON_SPARSE, place)
        self.newest, self.made_unasked = 0, len(self.layers)

    def use_ragged(self, number: int, models: bool) -> None:
        """Call a layer of that number on each ragged input; in a model, where there are `models`."""
        for place, given in enumerate(self.inputs[:REGISTERS]):
            for choices in on_ragged(given, number, models) if given.ragged else ():
                any(self._applied_on(each, place) for each in choices)
        self.made_unasked = len(self.layers)

    def _applied_on(self, instruction: Apply | Nest, place: int) -> bool:
        count = len(instruction.sources)
        if isinstance(instruction, Nest):
            before = len(self.calls)
            self.nest(replace(instruction, sources=(place + 1,) * count))
            return len(self.calls) > before
        return self._applied(replace(instruction, sources=(place + 1,) * count), (self.registers[place],) * count)

    def apply(self, instruction: Apply) -> None:
        if any(self._applied(instruction, sources) for sources in self._sources(instruction.sources)):
            return
        for given in self.more_inputs if len(self.added) < self.room else ():
            if self.generation == "keras2" and given.batch != self.inputs[0].batch:
                continue
            self.added.append(given)
            self.added_specs.append((spec_of(given),))
            if self._applied(instruction, (Ref(-len(self.added)),) * len(instruction.sources)):
                return
            del self.added[-1], self.added_specs[-1]

    def _applied(self, instruction: Apply, sources: tuple[Ref, ...]) -> bool:
        """Whether the layer takes these tensors; it is then called on them."""
        kind, specs = self.kinds[instruction.kind], tuple(self.spec(ref) for ref in sources)
        apart = scaled_apart(sources, specs, self.generation) or (kind.of_one_batch and self._mixes_batches())
        layer = applied(kind, specs, instruction, len(self.layers)) if self._masks_suit(kind, specs) else None
        if layer is None or apart:
            return False
        kwargs = [(key, value) for key, value in instruction.call_options if value != LEFT_OUT]
        if any(spec.ragged for spec in specs):
            pass  # no further tensor is as ragged
        elif instruction.way == "mask":
            kwargs += self._mask(specs)
        elif instruction.way == "initial_state":
            layer, state = self._initial_state(layer)
            kwargs += state
        added = len(self.added)
        if instruction.way == "other" and added < self.room:
            kwargs.append(("other", self._nothing(specs[0])))
        given = fill(masked_by_call(specs, dict(kwargs)), layer, kind)
        if given is None:
            del self.added[added:], self.added_specs[added:]
            return False
        self.layers.append(self._named(layer) if instruction.touch == "named" else layer)
        dest = self.place(instruction.sources[0]) + instruction.dest
        self._call(len(self.layers) - 1, kind, sources, tuple(kwargs), given, dest)
        return True

    def _mixes_batches(self) -> bool:
        """Whether only some inputs know their batch; or something holds numbers for each row, such as a mask."""
        rows = any(isinstance(leaf, Array) for each in self.layers for _, value in each.args for leaf in leaves(value))
        return rows or len({each.batch for each in (*self.inputs, *self.added)}) > 1

    def again(self, instruction: Again) -> None:
        shared = [number for number in self.first if self.layers[number].graph or self._kind(number).shared]
        if not shared or len(self.layers) == self.made_unasked:
            return  # Else one that no instruction made is the shortest way to a layer that is called again.
        number = shared[-1 - instruction.back % len(shared)]
        layer, first = self.layers[number], self.first[number]
        wanted = (*instruction.sources, *(0,) * len(first))[: len(first)]
        axis: Axis = ""
        for sources in self._sources(wanted):
            specs = tuple(self.spec(ref) for ref in sources)
            if layer.graph is not None:
                if not all(spec.suits_models and spec.like(given) for spec, given in zip(specs, first, strict=True)):
                    continue
                axis = self.calls[self._first_call(number) - len(self.inputs)].axis
                # Keras 2.2 calls the layers inside on the mask, and some of them refuse one.
                if self.generation == "keras2" and more_masks(specs, first):
                    continue
                given: Specs | None = self.specs[self._first_call(number)]
            else:
                if not same_weights(layer, specs, first, self.generation):
                    continue
                if not self._masks_suit(self._kind(number), specs) or scaled_apart(sources, specs, self.generation):
                    continue
                given = fill(specs, layer, self._kind(number))
            if given is None:
                continue
            options = {} if layer.graph is not None else self._kind(number).call_options
            kwargs = tuple(
                (key, value) for key, value in instruction.call_options if key in options and value != LEFT_OUT
            )
            if layer.kind == "Shift" and not kwargs:
                kwargs = (("by", 1.0),)
            kind = None if layer.graph is not None else self._kind(number)
            dest = self.place(instruction.sources[0]) + instruction.dest
            self._call(number, kind, sources, kwargs, given, dest, instruction.packing, axis)
            return

    def nest(self, instruction: Nest) -> None:
        count = 1 if instruction.sequential else len(instruction.sources)
        sources = tuple(self.named(place) for place in instruction.sources[:count])
        specs = tuple(self.spec(ref) for ref in sources)
        if any(spec.large or not spec.suits_models for spec in specs):
            return  # An input of whole numbers is one of ids.
        if any(spec.ragged for spec in specs):
            instruction = replace(instruction, axis="", casts=False, own=None, cut=(), given="", later=False)
        late = instruction.sequential and instruction.later
        named = instruction.names and not late
        inputs, taken, axis = inner_inputs(specs, instruction.axis, named=named, casts=instruction.casts)
        with_mask = instruction.given == "mask" and not instruction.axis and self._may_be_given_a_mask(specs)
        taken = (replace(taken[0], mask=True),) if with_mask else taken
        inner = Builder(
            inputs,
            taken,
            set(),
            partial_masks=self.partial_masks,
            idle_inputs=self.idle_inputs,
            shaped=self.shaped,
            generation=self.generation,
        )
        for step in instruction.body:
            if instruction.sequential:
                inner.chain(step)
            else:
                inner.run(step)
        if not inner.calls:
            return
        wanted = (0,) if instruction.sequential else instruction.outputs
        outputs = tuple(inner.made(inner.named(place)) for place in wanted)
        takes: Arrangement = "plain" if instruction.sequential else instruction.takes
        program = Program(inner.inputs, (), takes=takes, frozen=instruction.touch in ("frozen", "frozen after"))
        graph = inner.graph(outputs, program)
        graph = structs.replace(graph, sequential=True) if instruction.sequential else pruned(graph, keep_inputs=True)
        if late and not axis:
            graph = built_so(graph, "by its first layer" if instruction.names else "later", self.shaped)
        given = tuple(inner.spec(ref) for ref in outputs)
        # What of a mask the shorter model hands on, Keras 2.2 asks the layers behind it to take.
        masked = self.generation == "keras2" and any(spec.mask for spec in specs)
        plain = not (axis or instruction.packing or masked)
        whole = self._cut_out(graph, instruction) if instruction.cut and plain else None
        if whole is not None:
            graph, places, given = whole
            sources = tuple(sources[place] for place in places)
        elif instruction.own is not None and not named:
            parts = not any(each.graph is not None and makes_parts(each.graph) for each in self.layers)
            graph = owned(graph, instruction.own, given, self.generation, parts=parts)
        if not graph.calls or not (self.idle_inside or idle(graph).isdisjoint(range(len(graph.inputs)))):
            return
        layer = Layer("Sequential" if instruction.sequential else "Model", graph=graph)
        if axis and not takes_axis(graph, self.generation):
            self.nest(replace(instruction, axis=""))
            return
        self.layers.append(self._named(layer) if instruction.touch == "named" else layer)
        dest = self.place(instruction.sources[0]) + instruction.dest
        kwargs: list[tuple[str, Value]] = [("training", True)] if instruction.given == "training" else []
        if with_mask and len(sources) == 1:
            kwargs = self._mask(specs) or self._more_mask(specs[0])
        self._call(len(self.layers) - 1, None, sources, tuple(kwargs), given, dest, instruction.packing, axis)

    def _cut_out(self, graph: Graph, instruction: Nest) -> tuple[Graph, Sequence[int], Specs] | None:
        """A model cut out of one that is to be called: it, which inputs it takes, and what it gives."""
        if graph.built or self.generation is None:
            return None
        specs = infer(graph, generation=self.generation)
        for cut in cut_out(graph, specs, instruction.cut, later=False):
            try:
                infer(cut, generation=self.generation)
            except MalformedGraph:
                continue
            gives = tuple(specs[ref.node][ref.output] for ref in refs(cut.gives))
            return cut, [ref.node for ref in refs(cut.takes)], gives
        return None

    def chain(self, instruction: Instruction) -> None:
        """As one more layer of a Sequential, if it takes one tensor, gives one and needs no further arguments."""
        if isinstance(instruction, Again) and instruction.sources[0] == 0 and self.generation != "keras2":
            self._chain_again(instruction)
        if isinstance(instruction, Nest):
            plain = replace(instruction, takes="plain", packing=0, axis="", casts=False, cut=(), given="")
            self._link(replace(plain, sources=(0,), dest=0, outputs=instruction.outputs[:1]))
        if isinstance(instruction, Apply) and self.kinds[instruction.kind].takes[0] == 1:
            kind = self.kinds[instruction.kind]
            if kind.shared and kind.pass_as in ("one", "either") and "by" not in kind.call_options:
                self._link(replace(instruction, sources=(0,), dest=0, way="", call_options=()))

    def _link(self, instruction: Instruction) -> None:
        """Do it, unless it gives no link of the chain."""
        before = len(self.calls), len(self.layers), len(self.specs), list(self.registers)
        self.run(instruction)
        newest = Ref(before[2] - 1)
        if len(self.calls) > before[0] and not links(self.layers[-1], self.calls[-1], newest):
            del self.calls[before[0] :], self.layers[before[1] :], self.specs[before[2] :]
            self.first.pop(before[1], None)
            self.registers = before[3]
        self.registers = [self.registers[self.newest]] * REGISTERS

    def _chain_again(self, instruction: Again) -> None:
        """A layer of the Sequential once more, if it takes and gives as much as what is newest."""
        newest, specs = Ref(len(self.specs) - 1), self.specs[-1]
        made = [number for number in self.first if self.layers[number].graph is None]
        for number in made[-1 - instruction.back % max(1, len(made)) :]:
            layer, kind = self.layers[number], self._kind(number)
            given = (
                fill(specs, layer, kind) if same_weights(layer, specs, self.first[number], self.generation) else None
            )
            if given is not None and len(given) == 1 and self._masks_suit(kind, specs):
                self._call(number, kind, (newest,), (), given, 0)
                self.registers = [self.registers[self.newest]] * REGISTERS
                return

    def usual(self, ref: Ref) -> Ref:
        """The tensor, or the newest one that a model can give: no sparse or ragged input, none that is absent."""
        inputs = len(self.inputs)
        specs = ((each, self.spec(each)) for each in (ref, *self.tensors()))
        return next(each for each, spec in specs if spec.usual or (spec.ragged and each.node >= inputs))

    def made(self, ref: Ref) -> Ref:
        """The tensor, or the newest one if that is an input, which Keras 3 cannot build an inner model to give back."""
        return ref if ref.node >= len(self.inputs) else Ref(len(self.specs) - 1)

    def graph(self, outputs: tuple[Ref, ...], program: Program) -> Graph:
        first, more = len(self.inputs), len(self.added)

        def move(ref: Ref) -> Ref:
            node = ref.node if 0 <= ref.node < first else first + ~ref.node if ref.node < 0 else ref.node + more
            return Ref(node, ref.output)

        inputs = around_others((*self.inputs, *self.added))
        if program.takes == "dict":
            inputs = tuple(structs.replace(given, name=f"in_{place}") for place, given in enumerate(inputs))
        return Graph(
            inputs=inputs,
            layers=tuple(self.layers),
            calls=tuple(moved_call(call, move) for call in self.calls) if more else tuple(self.calls),
            takes=arranged(tuple(Ref(place) for place in range(len(inputs))), program.takes, "in"),
            gives=arranged(tuple(move(ref) for ref in outputs), program.gives, "out"),
            name="my_model" if program.named else None,
            trainable=not program.frozen or any(each.graph and makes_parts(each.graph) for each in self.layers),
            generation=program.generation,
        )

    def _sources(self, wanted: tuple[int, ...]) -> Iterator[tuple[Ref, ...]]:
        """The tensors wanted, then those of the registers after them, then any there is, several times."""
        for turn in range(REGISTERS):
            yield tuple(self.registers[(self.place(each) + turn) % REGISTERS] for each in wanted)
        if len(wanted) > 1:
            for turn in range(REGISTERS):
                yield (self.registers[(self.place(wanted[0]) + turn) % REGISTERS],) * len(wanted)
        for ref in self.tensors():
            yield (ref,) * len(wanted)

    def _kind(self, number: int) -> Kind:
        return self.kinds[self.layers[number].kind]

    def _masks_suit(self, kind: Kind, specs: Specs) -> bool:
        return self.partial_masks or kind.family not in MASKED_LISTS or len({spec.mask for spec in specs}) == 1

    def _named(self, layer: Layer) -> Layer:
        if layer.graph is None and not self.kinds[layer.kind].shared:
            return layer
        name = f"my_{layer.kind.lower()}"
        while name in self.names:
            name += "_too"
        self.names.add(name)
        return structs.replace(layer, name=name)

    def _mask(self, specs: Specs) -> list[tuple[str, Value]]:
        for ref in self.tensors():
            if self.spec(ref).is_mask_of(specs[0]):
                return [("mask", ref)]
        return []

    def _may_be_given_a_mask(self, specs: Specs) -> bool:
        there = len(self.added) < self.room or bool(self._mask(specs))
        return len(specs) == 1 and bool(specs[0].shape[1:]) and there

    def _more_mask(self, like: Spec) -> list[tuple[str, Value]]:
        """An input of its own for the mask of a tensor, where there is room for one."""
        if len(self.added) >= self.room:
            return []
        self.added.append(Input(like.shape[:1], "bool", batch=self.inputs[0].batch, fill="mask"))
        self.added_specs.append((spec_of(self.added[-1]),))
        return [("mask", Ref(-len(self.added)))]

    def _nothing(self, like: Spec) -> Ref:
        """An optional input that the model is run without."""
        batch = self.inputs[0].batch
        given = Input(like.shape, like.dtype, batch=batch, optional=True, fill="nothing")
        self.added.append(given)
        self.added_specs.append((spec_of(given),))
        return Ref(-len(self.added))

    def _initial_state(self, layer: Layer) -> tuple[Layer, list[tuple[str, Value]]]:
        """The layer made as wide as the newest vector there is, so that this can be its first state."""
        for ref in self.tensors():
            spec = self.spec(ref)
            wide = spec.rank == 1 and spec.dtype == "float32" and spec.shape[0] is not None
            if wide and spec.usual:
                args = tuple((key, spec.shape[0] if key == "units" else value) for key, value in layer.args)
                layer = structs.replace(layer, args=args)
                count = len(states(layer))
                return layer, [("initial_state", ref if count == 1 else Seq((ref,) * count))]
        return layer, []

    def _first_call(self, number: int) -> int:
        return len(self.inputs) + next(place for place, call in enumerate(self.calls) if call.layer == number)

    def _call(
        self,
        number: int,
        kind: Kind | None,
        sources: tuple[Ref, ...],
        kwargs: tuple[tuple[str, Value], ...],
        given: Specs,
        dest: int,
        packing: int = 0,
        axis: Axis = "",
    ) -> None:
        how = meant(packing, self.layers[number].graph, self.generation)
        args = kind.packed(sources) if kind is not None else (Seq(sources),) if len(sources) > 1 else sources
        self.calls.append(Call(number, args, kwargs, len(given), how, axis))
        self.specs.append(given)
        self.first.setdefault(number, tuple(self.spec(ref) for ref in sources))
        node = len(self.inputs) + len(self.calls) - 1
        if axis:
            self.unshaped.append(node)
            return
        for output in range(min(len(given), REGISTERS)):
            self.registers[(dest + output) % REGISTERS] = Ref(node, output)
        self.newest = dest % REGISTERS
