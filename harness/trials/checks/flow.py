"""Data flow: which layers of a model can affect the outputs of another."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property

import msgspec

from clonediff.harness.observation import Observation
from clonediff.harness.trials.checks.skeletons import tensors
from clonediff.reports.records import Place


class FlowLayer(msgspec.Struct, frozen=True, array_like=True):
    """A layer in the graph, with its identity, its holder and its input layers."""

    ident: int
    inside: int
    sources: tuple[int, ...] = ()


class Flow(msgspec.Struct, frozen=True, dict=True):
    """The data flow of one model. A shared layer is a single node.

    `steps` has each call that ran, as layer and use, in order.
    """

    layers: tuple[FlowLayer, ...]
    steps: tuple[tuple[int, int], ...] = ()

    @classmethod
    def of(cls, original: Observation) -> Flow:
        layers = []
        for layer in original.shape.layers:
            sources = (source for call in layer.calls for source, _, _ in tensors([call.args, call.kwargs]))
            layers.append(FlowLayer(layer.ident, layer.inside, tuple(dict.fromkeys(sources))))
        runs = [run for run in (original.inference, original.training) if run is not None]
        steps = dict.fromkeys((step.layer, step.use) for run in runs for step in run.steps)
        return cls(tuple(layers), tuple(steps))

    def time(self, place: Place | None) -> int:
        """When a place first ran; layers that did not run are later, the model last."""
        if place is None or place.layer < 0:
            return 10**9
        layer = self.identity(place.layer)
        time = self._times.get((layer, place.use), self._times.get((layer, 0)))
        return 10**6 + place.layer if time is None else time

    def begins(self, place: Place | None) -> int:
        """When a place, or a layer inside it, first ran."""
        times = [self.time(place)]
        if place is not None:
            holder = self.identity(place.layer)
            times += [self._times.get((part, 0), 10**9) for part in self._holders if holder in self._holders[part]]
        return min(times)

    def related(self, place: Place | None, further: Place | None) -> bool:
        """Whether two places are the same layer, or one holds the other."""
        if place is None or further is None:
            return False
        if place.layer < 0 or further.layer < 0:
            return place.layer == further.layer or place.container or further.container
        is_same = self.identity(place.layer) == self.identity(further.layer)
        return is_same or self.holds(place.layer, further.layer) or self.holds(further.layer, place.layer)

    def holds(self, holder: int, layer: int) -> bool:
        return self.identity(holder) in self._holders[self.identity(layer)]

    def reaches(self, place: Place, further: Place) -> bool:
        """Whether one place can affect the other."""
        if self.related(place, further):
            return True
        source = self.identity(place.layer)
        return min(place.layer, further.layer) >= 0 and source in self._upstream(self.identity(further.layer))

    def identity(self, layer: int) -> int:
        """The first place of the same layer."""
        return self._same[layer] if 0 <= layer < len(self._same) else layer

    def _upstream(self, layer: int) -> set[int]:
        """Every layer that can affect the outputs of this one."""
        reached = self._reached.setdefault(layer, set())
        ahead = [layer] if not reached else []
        while ahead:
            new = self._sources[ahead.pop()] - reached
            reached |= new
            ahead += new
        return reached

    @cached_property
    def _reached(self) -> dict[int, set[int]]:
        return {}

    @cached_property
    def _same(self) -> list[int]:
        first: dict[int, int] = {}
        return [first.setdefault(layer.ident, index) for index, layer in enumerate(self.layers)]

    @cached_property
    def _times(self) -> dict[tuple[int, int], int]:
        return {step: time for time, step in enumerate(self.steps)}

    @cached_property
    def _holders(self) -> defaultdict[int, set[int]]:
        """The holders of each layer, without the model itself."""
        holders: defaultdict[int, set[int]] = defaultdict(set)
        for index, layer in enumerate(self.layers):
            holders[self._same[index]].update(map(self.identity, self._around(layer)))
        return holders

    @cached_property
    def _sources(self) -> defaultdict[int, set[int]]:
        """The direct sources of a layer: its inputs, those of its holders, and its sublayers."""
        direct: defaultdict[int, set[int]] = defaultdict(set)
        for index, layer in enumerate(self.layers):
            direct[self._same[index]].update(map(self.identity, layer.sources))
        sources = defaultdict(set, {index: set(layers) for index, layers in direct.items()})
        for index, layer in enumerate(self.layers):
            this = self._same[index]
            for holder in map(self.identity, self._around(layer)):
                sources[this] |= direct[holder] - {this}
            if layer.inside >= 0:
                sources[self.identity(layer.inside)].add(this)
        return sources

    def _around(self, layer: FlowLayer) -> Iterator[int]:
        """The holders of a layer, the innermost first."""
        while layer.inside >= 0:
            yield layer.inside
            layer = self.layers[layer.inside]
