"""Which layers of a model can have a say in what another gives: the graph of an observation, walked backwards."""

from __future__ import annotations

from functools import cached_property

from clonediff.harness.subjects.observation import Observation, Shape
from clonediff.harness.trials.checks.uses import tensors
from clonediff.reports.records import Place


class Flow:
    """Where values come from in one model. A shared layer is one point of it, wherever it is held."""

    def __init__(self, original: Observation) -> None:
        """Take the layers of the original, and the order in which they ran."""
        self._shape: Shape = original.shape
        first: dict[int, int] = {}
        self._same = [first.setdefault(layer.ident, index) for index, layer in enumerate(self._shape.layers)]
        self._times: dict[tuple[int, int], int] = {}
        for run in (original.inference, original.training):
            for time, step in enumerate(run.steps if run else ()):
                self._times.setdefault((step.layer, step.use), time)
        self._before: dict[int, frozenset[int]] = {}

    def time(self, place: Place | None) -> int:
        """When a place first ran; the layers that never do, last in their order, and the model after all of them."""
        if place is None or place.layer < 0:
            return 10**9
        layer = self.one(place.layer)
        time = self._times.get((layer, place.use), self._times.get((layer, 0)))
        return 10**6 + place.layer if time is None else time

    def related(self, one: Place | None, other: Place | None) -> bool:
        """Whether two places are one layer, or one holds the other. The model holds everything."""
        if one is None or other is None:
            return False
        if one.layer < 0 or other.layer < 0:
            return one.layer == other.layer or one.container or other.container
        left, right = self.one(one.layer), self.one(other.layer)
        return left == right or left in self._holders.get(right, ()) or right in self._holders.get(left, ())

    def trained_first(self) -> bool:
        """Whether the model may list the weights that are trained first: some are not, and come last."""
        flags = [weight.trainable for weight in self._shape.weights]
        return False in flags and flags == sorted(flags, reverse=True)

    def near(self, place: Place | None) -> list[int] | None:
        """The layers that are related to a place; None where all are, as to the model."""
        if place is None:
            return []
        if place.layer < 0:
            return None
        layer = self.one(place.layer)
        return [layer, *self._holders.get(layer, ()), *self._held.get(layer, ())]

    def reaches(self, one: Place, other: Place) -> bool:
        """Whether what happens at one place can show at the other."""
        are_layers = one.layer >= 0 and other.layer >= 0
        return self.related(one, other) or (are_layers and self.one(one.layer) in self.upstream(self.one(other.layer)))

    def upstream(self, layer: int) -> frozenset[int]:
        """Every layer that can have a say in what this one gives."""
        if layer not in self._before:
            seen: set[int] = set()
            ahead = [layer]
            while ahead:
                for giver in self._givers.get(ahead.pop(), ()):  # a clone of the clone may have layers of its own
                    if giver not in seen:
                        seen.add(giver)
                        ahead.append(giver)
            self._before[layer] = frozenset(seen)
        return self._before[layer]

    def one(self, layer: int) -> int:
        """A layer as `near` has it: by the first place that it has."""
        return self._same[layer] if 0 <= layer < len(self._same) else layer

    @cached_property
    def _holders(self) -> dict[int, set[int]]:
        """What holds each layer that is held, wherever that is; of the model itself nothing is said."""
        holders: dict[int, set[int]] = {}
        for index, each in enumerate(self._shape.layers):
            holder = each.inside
            while holder >= 0:
                holders.setdefault(self._same[index], set()).add(self.one(holder))
                holder = self._shape.layers[holder].inside
        return holders

    @cached_property
    def _held(self) -> dict[int, set[int]]:
        held: dict[int, set[int]] = {}
        for layer, holders in self._holders.items():
            for holder in holders:
                held.setdefault(holder, set()).add(layer)
        return held

    @cached_property
    def _givers(self) -> dict[int, set[int]]:
        layers = self._shape.layers
        direct: dict[int, set[int]] = {index: set() for index in range(len(layers))}
        for index, layer in enumerate(layers):
            for call in layer.calls:
                for giver, _, _ in tensors([call.args, call.kwargs]):
                    if 0 <= giver < len(layers):
                        direct[self._same[index]].add(self._same[giver])
        givers = {index: set(found) for index, found in direct.items()}
        for index, layer in enumerate(layers):
            me, holder = self._same[index], layer.inside
            if holder >= 0:
                givers[self.one(holder)].add(me)
            while holder >= 0:  # what enters a model reaches each layer in it
                givers[me] |= direct[self.one(holder)] - {me}
                holder = layers[holder].inside
        return givers
