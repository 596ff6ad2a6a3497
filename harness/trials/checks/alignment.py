"""Aligns a clone's layers, calls, variables and steps with the original's.

An object without a counterpart is missing or extra. An object that moved or was renamed has a counterpart.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import cached_property

from clonediff.harness.observation import CallRecord, Clone, LayerRecord, ModelRun, Observation, Structure, Variable
from clonediff.harness.trials.checks.aspects import VARIABLES
from clonediff.harness.trials.checks.paths import full_name
from clonediff.harness.trials.checks.skeletons import Consumers, Tensor, TensorNamer, consumers_of, map_tensors, tensors
from clonediff.reports.records import Part

Keys = tuple[Hashable, ...]
Objects = Sequence[LayerRecord] | Sequence[Variable]


@dataclasses.dataclass(frozen=True)
class Alignment:
    """Pairs of indices, in the original's order, and the unpaired indices of each side."""

    pairs: tuple[tuple[int, int], ...]
    missing: tuple[int, ...]
    extra: tuple[int, ...]

    @cached_property
    def counterparts(self) -> dict[int, int]:
        return dict(self.pairs)

    @cached_property
    def originals(self) -> dict[int, int]:
        return {counterpart: original for original, counterpart in self.pairs}

    @property
    def orders(self) -> tuple[list[int], list[int]]:
        """The clone's indices of paired objects, in expected order and as found."""
        order = [counterpart for _, counterpart in self.pairs]
        return sorted(order), order

    @property
    def moved_pairs(self) -> tuple[tuple[int, int], ...]:
        """The pairs in another order; missing objects do not count."""
        return tuple(pair for pair, expected in zip(self.pairs, self.orders[0], strict=True) if pair[1] != expected)


_ONE_TO_ONE = Alignment(((0, 0),), (), ())
"""The alignment of single calls, and of calls that are not aligned yet."""


def align(expected: Sequence[Keys], found: Sequence[Keys]) -> Alignment:
    """Align two sequences by the keys of each object, the strictest key first."""
    pairs: dict[int, int] = {}
    for level in range(max((len(keys) for keys in expected), default=0)):
        taken = set(pairs.values())
        unpaired: dict[Hashable, collections.deque[int]] = collections.defaultdict(collections.deque)
        for index, keys in enumerate(found):
            if index not in taken and level < len(keys):
                unpaired[keys[level]].append(index)
        for index, keys in enumerate(expected):
            if index not in pairs and level < len(keys) and unpaired.get(keys[level]):
                pairs[index] = unpaired[keys[level]].popleft()
    return _alignment(pairs, expected, found)


def _alignment(pairs: Mapping[int, int], expected: Sequence[object], found: Sequence[object]) -> Alignment:
    missing = tuple(index for index in range(len(expected)) if index not in pairs)
    extra = set(range(len(found))).difference(pairs.values())
    return Alignment(tuple(sorted(pairs.items())), missing, tuple(sorted(extra)))


@dataclasses.dataclass(frozen=True, eq=False)
class Pair:
    """Observations of an original and its clone, with aligned objects."""

    original: Observation
    clone: Clone

    @property
    def clone_observation(self) -> Observation:
        if self.clone.observation is None:
            raise ValueError("there is no clone to compare")
        return self.clone.observation

    @cached_property
    def structures(self) -> tuple[Structure, Structure]:
        return self.original.structure, self.clone_observation.structure

    @cached_property
    def layers(self) -> Alignment:
        """The layers, aligned in each container by role, name and kind, or fewer of these."""
        original, clone = self.structures
        containers = [(-1, -1)]
        for container, counterpart in containers:
            layers, counterparts = original.members.get(container, []), clone.members.get(counterpart, [])
            keys = [_layer_keys(original.layers[index]) for index in layers]
            alignment = align(keys, [_layer_keys(clone.layers[index]) for index in counterparts])
            containers += [(layers[index], counterparts[number]) for index, number in alignment.pairs]
        return _alignment(dict(containers[1:]), original.layers, clone.layers)

    @cached_property
    def calls(self) -> dict[int, Alignment]:
        """The calls of each aligned layer, by its index in the original.

        Calls are aligned by their arguments, which are outputs of aligned calls, so this is repeated until nothing
        changes; calls with equal arguments by the consumers of their outputs, then by their order.
        """
        calls: dict[int, Alignment] = {}
        for _ in range(4):
            previous = calls
            calls = {layer: self._align_calls(layer, counterpart, previous) for layer, counterpart in self.layers.pairs}
            if previous == calls:
                break
        return calls

    def _align_calls(self, layer: int, counterpart: int, calls: dict[int, Alignment]) -> Alignment:
        models = self.structures
        original, clone = models[0].layers[layer], models[1].layers[counterpart]
        if len(original.calls) == len(clone.calls) == 1:
            return _ONE_TO_ONE
        expected, found = self._consumers
        name = functools.partial(self.name_in_original, calls=calls)

        def keys(record: CallRecord, name: TensorNamer, call: int, consumers: list[tuple[str, int, int]]) -> Keys:
            args, kwargs = map_tensors(record.args, name), map_tensors(record.kwargs, name)
            names = [name(tensor) for tensor in tensors([record.args, record.kwargs])]
            without_tensors = map_tensors([record.args, record.kwargs], lambda _: "")
            # From strict to loose: all arguments, only tensors, only positional ones, all but tensors.
            texts = (repr((args, kwargs)), repr(names), repr(args), repr(without_tensors))
            key = tuple(sorted(consumers))
            return (*((text, *suffix) for text in texts for suffix in ((key, call), (key,), (call,), ())), call)

        return align(
            [keys(record, self.tensor_name, call, expected[layer, call]) for call, record in enumerate(original.calls)],
            [keys(record, name, call, found[counterpart, call]) for call, record in enumerate(clone.calls)],
        )

    @cached_property
    def _consumers(self) -> tuple[Consumers, Consumers]:
        names = {counterpart: self.name(expected) for expected, counterpart in self.layers.pairs}
        original, clone = self.structures
        return consumers_of(original, self.name), consumers_of(clone, lambda layer: names.get(layer, "new"))

    def tensor_name(self, tensor: Tensor) -> str:
        layer, call, output = tensor
        return f"{self.name(layer)}#{call}.{output}"

    def name_in_original(self, tensor: Tensor, calls: Mapping[int, Alignment] | None = None) -> str:
        """The original's name of a clone's tensor; "new ..." if missing there."""
        layer, call, output = tensor
        if layer < 0:  # no layer of the model
            return self.tensor_name(tensor)
        expected = self.layers.originals.get(layer)
        if expected is None:
            layers = self.structures[1].layers
            return f"new {layers[layer].name if 0 <= layer < len(layers) else 'tensor'}#{call}.{output}"
        alignment = (self.calls if calls is None else calls).get(expected, _ONE_TO_ONE)
        prefix = "new " if call in alignment.extra else ""
        return f"{prefix}{self.name(expected)}#{alignment.originals.get(call, call)}.{output}"

    def original_tensor(self, tensor: Tensor) -> Tensor:
        """The original's tensor for the clone's; if missing, with negative indices."""
        layer, call, output = tensor
        original = self.layers.originals.get(layer)
        if original is None:
            return -3 - layer, call, output
        alignment = self.calls.get(original, _ONE_TO_ONE)
        return original, alignment.originals.get(call, -1 - call), output

    def name(self, layer: int) -> str:
        return full_name(self.original.structure, layer)

    def align_steps(self, expected: ModelRun, found: ModelRun) -> Alignment:
        """Align the steps of two runs by layer, call and values, or fewer of these."""

        def keys(run: ModelRun, index: Callable[[int], int]) -> list[Keys]:
            steps = ((index(step.layer), step.call, tuple(leaf.digest for leaf in step.outputs)) for step in run.steps)
            return [((layer, call, values), (layer, values), (layer, call), layer) for layer, call, values in steps]

        numbers = self.layers.originals
        return align(keys(expected, lambda layer: layer), keys(found, lambda layer: numbers.get(layer, -2 - layer)))

    @property
    def runs(self) -> Iterator[tuple[ModelRun, ModelRun, str]]:
        """Both models' runs, with the mode: inference, then training."""
        for mode in ("inference", "training"):
            expected, found = getattr(self.original, mode), getattr(self.clone_observation, mode)
            if expected is not None and found is not None:
                yield expected, found, mode

    @property
    def objects(self) -> Iterator[tuple[Part, Objects, Objects, Alignment]]:
        yield "layer", self.structures[0].layers, self.structures[1].layers, self.layers
        yield from self.variables

    @cached_property
    def original_variables(self) -> dict[int, int]:
        """The original's variable for each of the clone's, numbered as in facts."""
        counterparts: dict[int, int] = {}
        offset = clone_offset = 0
        for _, expected, found, alignment in self.variables:
            counterparts |= {clone_offset + counterpart: offset + index for index, counterpart in alignment.pairs}
            offset, clone_offset = offset + len(expected), clone_offset + len(found)
        return counterparts

    @cached_property
    def original_layers(self) -> dict[int, int]:
        """The original's first place for each layer of the clone; -1 is the model."""
        first_places: dict[int, int] = {}
        places = [first_places.setdefault(layer.ident, index) for index, layer in enumerate(self.structures[0].layers)]
        return {-1: -1, **{counterpart: places[original] for original, counterpart in self.layers.pairs}}

    @property
    def weights(self) -> Alignment:
        return self.variables[0][3]

    @cached_property
    def variables(self) -> list[tuple[Part, Sequence[Variable], Sequence[Variable], Alignment]]:
        """The weights and states of both models, aligned by owner and name."""
        # The owner is -1 outside layers, as in a metric, and -2 in a new layer.
        owners = {-1: -1, **self.layers.originals}
        alignments = []
        for part in VARIABLES:
            expected, found = (getattr(structure, f"{part}s") for structure in self.structures)
            keys = [_variable_keys(variable, variable.owner) for variable in expected]
            alignment = align(keys, [_variable_keys(variable, owners.get(variable.owner, -2)) for variable in found])
            alignments.append((part, expected, found, alignment))
        return alignments


def _layer_keys(layer: LayerRecord) -> Keys:
    role, kind, name = layer.role, layer.kind, layer.name
    return (role, name, kind), (name, kind), (role, kind), name, kind


def _variable_keys(variable: Variable, owner: int) -> Keys:
    name, shape = variable.name, variable.shape
    last = name.rpartition("/")[2]
    by_name = (owner, name, shape), (owner, name), (owner, "", last, shape), (owner, "", last)
    return (*by_name, (owner, shape, variable.dtype), (owner, shape), owner)
