"""Who in the clone answers to whom in the original: layers, calls, weights and steps.

A thing without a counterpart is missing or extra; one that only moved or changed its name keeps its counterpart.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import cached_property

from clonediff.harness.observation import CallSeen, Clone, LayerSeen, ModelRun, Observation, Shape, Variable
from clonediff.harness.trials.checks.aspects import VARIABLES
from clonediff.harness.trials.checks.places import full_name
from clonediff.harness.trials.checks.skeletons import Tensor, TensorName, map_tensors, tensors, users
from clonediff.reports.records import Part

Keys = tuple[Hashable, ...]
Objects = Sequence[LayerSeen] | Sequence[Variable]

_OPERATION_LAYERS = (
    "TFOpLambda",
    "SlicingOpLambda",
    "ClassMethod",
    "InstanceMethod",
    "InstanceProperty",
    "TensorFlowOpLayer",
)
"""The layers that tf_keras makes of operations: their names begin with those of TensorFlow's functions."""


def is_operation(layer: LayerSeen) -> bool:
    """Whether Keras has made the layer, where a function was called."""
    return "trainable" not in layer.config or layer.kind in _OPERATION_LAYERS


@dataclasses.dataclass(frozen=True)
class Pairing:
    """Indices paired, in the order expected, and those that stand alone on either side."""

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
        """The order in which those that are paired were to be found, and that in which they are."""
        order = [counterpart for _, counterpart in self.pairs]
        return sorted(order), order

    @property
    def moved(self) -> tuple[tuple[int, int], ...]:
        """The pairs that stand in another order: each takes its turn by rank, so a missing one moves no other."""
        return tuple(pair for pair, in_turn in zip(self.pairs, self.orders[0], strict=True) if pair[1] != in_turn)


_ONE_TO_ONE = Pairing(((0, 0),), (), ())
"""How calls are paired where either side has one, and as long as nothing is known of them."""


def pair(expected: Sequence[Keys], actual: Sequence[Keys]) -> Pairing:
    """Pair two sequences by their keys, the strictest first; equal keys are paired in order."""
    pairs: dict[int, int] = {}
    for level in range(max((len(keys) for keys in expected), default=0)):
        taken = set(pairs.values())
        waiting: dict[Hashable, collections.deque[int]] = collections.defaultdict(collections.deque)
        for index, keys in enumerate(actual):
            if index not in taken and level < len(keys):
                waiting[keys[level]].append(index)
        for index, keys in enumerate(expected):
            if index not in pairs and level < len(keys) and waiting.get(keys[level]):
                pairs[index] = waiting[keys[level]].popleft()
    return _pairing(pairs, expected, actual)


def _pairing(pairs: Mapping[int, int], expected: Sequence[object], actual: Sequence[object]) -> Pairing:
    missing = tuple(index for index in range(len(expected)) if index not in pairs)
    extra = set(range(len(actual))).difference(pairs.values())
    return Pairing(tuple(sorted(pairs.items())), missing, tuple(sorted(extra)))


@dataclasses.dataclass(frozen=True, eq=False)
class Pair:
    """An original and what a cloner made of it, with the alignments between them, each found once."""

    original: Observation
    clone: Clone

    @property
    def observed(self) -> Observation:
        if self.clone.observation is None:
            raise ValueError("there is no clone to compare")
        return self.clone.observation

    @cached_property
    def shapes(self) -> tuple[Shape, Shape]:
        return self.original.shape, self.observed.shape

    @cached_property
    def layers(self) -> Pairing:
        """Layers within paired containers: by role, name and kind, then by what of that is left the same."""
        original, clone = self.shapes
        containers = [(-1, -1)]
        for container, counterpart in containers:
            mine, theirs = original.members.get(container, []), clone.members.get(counterpart, [])
            keys = [_layer_keys(original.layers[index]) for index in mine]
            pairing = pair(keys, [_layer_keys(clone.layers[index]) for index in theirs])
            containers += [(mine[index], theirs[number]) for index, number in pairing.pairs]
        return _pairing(dict(containers[1:]), original.layers, clone.layers)

    @cached_property
    def calls(self) -> dict[int, Pairing]:
        """The calls of each paired layer, by the layer's index in the original.

        They are paired by their arguments, and those by the calls that gave them, so this goes round until nothing
        changes; calls on the same arguments are paired by what uses their results, then by their order.
        """
        calls: dict[int, Pairing] = {}
        for _ in range(4):
            before = calls
            calls = {layer: self._pair_calls(layer, counterpart, before) for layer, counterpart in self.layers.pairs}
            if before == calls:
                break
        return calls

    def _pair_calls(self, layer: int, counterpart: int, calls: dict[int, Pairing]) -> Pairing:
        original, clone = (shape.layers[index] for shape, index in zip(self.shapes, (layer, counterpart), strict=True))
        if len(original.calls) == len(clone.calls) == 1:
            return _ONE_TO_ONE
        mine, theirs = self._users
        name = functools.partial(self.counterpart, calls=calls)

        def keys(call: CallSeen, name: TensorName, use: int, used: int) -> Keys:
            args, kwargs = map_tensors(call.args, name), map_tensors(call.kwargs, name)
            named = [name(tensor) for tensor in tensors([call.args, call.kwargs])]
            bare = map_tensors([call.args, call.kwargs], lambda _: "")
            # What the clone adds by keyword, or has by keyword now, or is called on, moves no call.
            texts = (repr((args, kwargs)), repr(named), repr(args), repr(bare))
            return (*((text, *more) for text in texts for more in ((used, use), (used,), (use,), ())), use)

        return pair(
            [keys(call, self.tensor, use, mine[layer, use]) for use, call in enumerate(original.calls)],
            [keys(call, name, use, theirs[counterpart, use]) for use, call in enumerate(clone.calls)],
        )

    @cached_property
    def _users(self) -> tuple[dict[tuple[int, int], int], dict[tuple[int, int], int]]:
        names = {counterpart: self.name(expected) for expected, counterpart in self.layers.pairs}
        return users(self.shapes[0], self.name), users(self.shapes[1], lambda layer: names.get(layer, "new"))

    def tensor(self, tensor: Tensor) -> str:
        layer, use, output = tensor
        return f"{self.name(layer)}#{use}.{output}"

    def counterpart(self, tensor: Tensor, calls: Mapping[int, Pairing] | None = None) -> str:
        """The name, in the original, of a tensor of the clone, as far as `calls` are paired yet; or "new ..."."""
        layer, use, output = tensor
        if layer < 0:  # of no layer of the model
            return self.tensor(tensor)
        expected = self.layers.originals.get(layer)
        if expected is None:
            layers = self.shapes[1].layers
            return f"new {layers[layer].name if 0 <= layer < len(layers) else 'tensor'}#{use}.{output}"
        pairing = (self.calls if calls is None else calls).get(expected, _ONE_TO_ONE)
        new = "new " if use in pairing.extra else ""
        return f"{new}{self.name(expected)}#{pairing.originals.get(use, use)}.{output}"

    def original_tensor(self, tensor: Tensor) -> Tensor:
        """The tensor of the original for one of the clone; of a negative layer where the original has none like it."""
        layer, use, output = tensor
        original = self.layers.originals.get(layer)
        if original is None:
            return -3 - layer, use, output
        pairing = self.calls.get(original, _ONE_TO_ONE)
        return original, pairing.originals.get(use, -1 - use), output

    def name(self, layer: int) -> str:
        return full_name(self.original.shape, layer)

    def steps(self, expected: ModelRun, actual: ModelRun) -> Pairing:
        """The steps of two runs, paired. A step keeps to its use, unless another use of its layer gave its values."""

        def keys(run: ModelRun, number: Callable[[int], int]) -> list[Keys]:
            steps = ((number(step.layer), step.use, tuple(leaf.digest for leaf in step.outputs)) for step in run.steps)
            return [((layer, use, values), (layer, values), (layer, use), layer) for layer, use, values in steps]

        numbers = self.layers.originals
        return pair(keys(expected, lambda layer: layer), keys(actual, lambda layer: numbers.get(layer, -2 - layer)))

    @property
    def runs(self) -> Iterator[tuple[ModelRun, ModelRun, str]]:
        """Both models in "inference", and in "training", as far as both ran."""
        for where in ("inference", "training"):
            expected, actual = getattr(self.original, where), getattr(self.observed, where)
            if expected is not None and actual is not None:
                yield expected, actual, where

    @property
    def objects(self) -> Iterator[tuple[Part, Objects, Objects, Pairing]]:
        yield "layer", self.shapes[0].layers, self.shapes[1].layers, self.layers
        yield from self.variables

    @cached_property
    def original_variables(self) -> dict[int, int]:
        """The counterpart of each variable of the clone, weights first and then states, as facts count them."""
        counterparts: dict[int, int] = {}
        ours = theirs = 0
        for _, wants, haves, pairing in self.variables:
            counterparts |= {theirs + have: ours + want for want, have in pairing.pairs}
            ours, theirs = ours + len(wants), theirs + len(haves)
        return counterparts

    @cached_property
    def original_layers(self) -> dict[int, int]:
        """The counterpart of each layer of the clone, by the first place that it has; of the model, the model."""
        first: dict[int, int] = {}
        places = [first.setdefault(layer.ident, index) for index, layer in enumerate(self.original.shape.layers)]
        return {-1: -1, **{counterpart: places[original] for original, counterpart in self.layers.pairs}}

    @property
    def weights(self) -> Pairing:
        return self.variables[0][3]

    @cached_property
    def variables(self) -> list[tuple[Part, Sequence[Variable], Sequence[Variable], Pairing]]:
        """The weights and the states of both models, paired by the layer that owns them and their name."""
        # A variable of no layer, such as a metric's, has -1 on both sides; that of a layer that only the clone has, -2.
        owners = {-1: -1, **self.layers.originals}
        pairings = []
        for part in VARIABLES:
            wants, haves = (getattr(shape, f"{part}s") for shape in self.shapes)
            keys = [_keys_of(want, want.owner) for want in wants]
            pairing = pair(keys, [_keys_of(have, owners.get(have.owner, -2)) for have in haves])
            pairings.append((part, wants, haves, pairing))
        return pairings


def _layer_keys(layer: LayerSeen) -> Keys:
    role, kind, name = layer.role, layer.kind, layer.name
    return (role, name, kind), (name, kind), (role, kind), name, kind


def _keys_of(variable: Variable, owner: int) -> Keys:
    name, shape = variable.name, variable.shape
    last = name.rpartition("/")[2]
    by_name = (owner, name, shape), (owner, name), (owner, "", last, shape), (owner, "", last)
    return (*by_name, (owner, shape, variable.dtype), (owner, shape), owner)
