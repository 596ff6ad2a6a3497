"""Which layers of a model can have a say in what another gives: the graph of an observation, walked backwards."""

from __future__ import annotations

from functools import cached_property

import msgspec

from clonediff.harness.subjects.observation import Observation
from clonediff.harness.trials.checks.skeletons import tensors
from clonediff.reports.records import Place


class Wired(msgspec.Struct, frozen=True, array_like=True):
    """A layer in the graph: the object that it is, the index of what holds it, the layers that it is called on."""

    ident: int
    inside: int
    givers: tuple[int, ...] = ()


class Flow(msgspec.Struct, frozen=True, dict=True):
    """Where values come from in one model. A shared layer is one point of it, wherever it is held.

    `steps` has the layers, each with the number of its call, in the order in which they ran.
    """

    layers: tuple[Wired, ...]
    steps: tuple[tuple[int, int], ...] = ()

    @classmethod
    def of(cls, original: Observation) -> Flow:
        """The flow in a model that was observed."""
        layers = []
        for layer in original.shape.layers:
            givers = (giver for call in layer.calls for giver, _, _ in tensors([call.args, call.kwargs]))
            layers.append(Wired(layer.ident, layer.inside, tuple(dict.fromkeys(givers))))
        runs = [run for run in (original.inference, original.training) if run is not None]
        steps = dict.fromkeys((step.layer, step.use) for run in runs for step in run.steps)
        return cls(tuple(layers), tuple(steps))

    def time(self, place: Place | None) -> int:
        """When a place first ran; the layers that never do, last in their order, and the model after all of them."""
        if place is None or place.layer < 0:
            return 10**9
        layer = self.identity(place.layer)
        time = self._times.get((layer, place.use), self._times.get((layer, 0)))
        return 10**6 + place.layer if time is None else time

    def begins(self, place: Place | None) -> int:
        """When a place, or a layer in it, first ran."""
        parts = self._held.get(self.identity(place.layer), ()) if place is not None else ()
        return min([self.time(place), *(self._times.get((part, 0), 10**9) for part in parts)])

    def related(self, place: Place | None, further: Place | None) -> bool:
        """Whether two places are one layer, or one holds the other. The model holds everything."""
        if place is None or further is None:
            return False
        if place.layer < 0 or further.layer < 0:
            return place.layer == further.layer or place.container or further.container
        left, right = self.identity(place.layer), self.identity(further.layer)
        return left == right or left in self._holders.get(right, ()) or right in self._holders.get(left, ())

    def holds(self, holder: int, layer: int) -> bool:
        """Whether a layer is in another, at any depth."""
        return self.identity(holder) in self._holders.get(self.identity(layer), ())

    def reaches(self, place: Place, further: Place) -> bool:
        """Whether what happens at one place can show at the other."""
        are_layers = place.layer >= 0 and further.layer >= 0
        return self.related(place, further) or (
            are_layers and self.identity(place.layer) in self.upstream(self.identity(further.layer))
        )

    def upstream(self, layer: int) -> set[int]:
        """Every layer that can have a say in what this one gives."""
        if layer not in self._upstream:
            reached = self._upstream.setdefault(layer, set())
            ahead = [layer]
            while ahead:
                new = self._givers.get(ahead.pop(), set()) - reached  # a clone of the clone may have layers of its own
                reached |= new
                ahead += new
        return self._upstream[layer]

    def identity(self, layer: int) -> int:
        """A layer by the first place that it has."""
        return self._same[layer] if 0 <= layer < len(self._same) else layer

    @cached_property
    def _same(self) -> list[int]:
        first: dict[int, int] = {}
        return [first.setdefault(layer.ident, index) for index, layer in enumerate(self.layers)]

    @cached_property
    def _times(self) -> dict[tuple[int, int], int]:
        return {step: time for time, step in enumerate(self.steps)}

    @cached_property
    def _holders(self) -> dict[int, set[int]]:
        """What holds each layer that is held, wherever that is; of the model itself nothing is said."""
        holders: dict[int, set[int]] = {}
        for index, layer in enumerate(self.layers):
            holder = layer.inside
            while holder >= 0:
                holders.setdefault(self._same[index], set()).add(self.identity(holder))
                holder = self.layers[holder].inside
        return holders

    @cached_property
    def _held(self) -> dict[int, set[int]]:
        parts: dict[int, set[int]] = {}
        for layer, holders in self._holders.items():
            for holder in holders:
                parts.setdefault(holder, set()).add(layer)
        return parts

    @cached_property
    def _upstream(self) -> dict[int, set[int]]:
        return {}

    @cached_property
    def _givers(self) -> dict[int, set[int]]:
        direct: dict[int, set[int]] = {index: set() for index in range(len(self.layers))}
        for index, layer in enumerate(self.layers):
            direct[self._same[index]].update(
                self._same[giver] for giver in layer.givers if 0 <= giver < len(self.layers)
            )
        givers = {index: set(layers) for index, layers in direct.items()}
        for index, layer in enumerate(self.layers):
            this, holder = self._same[index], layer.inside
            if holder >= 0:
                givers[self.identity(holder)].add(this)
            while holder >= 0:  # what enters a model reaches each layer in it
                givers[this] |= direct[self.identity(holder)] - {this}
                holder = self.layers[holder].inside
        return givers
