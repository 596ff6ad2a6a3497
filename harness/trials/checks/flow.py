"""Finds a model's data flow: the layers that can affect a layer's outputs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property

import msgspec

from clonediff.harness.observation import Observation
from clonediff.harness.trials.checks.skeletons import tensors
from clonediff.reports.records import Place


class FlowLayer(msgspec.Struct, frozen=True, array_like=True):
    """A layer in the graph: its `ident`, its holder, and its inputs' layers."""

    ident: int
    holder: int
    sources: tuple[int, ...] = ()


class Flow(msgspec.Struct, frozen=True, dict=True):
    """The data flow of one model; a shared layer is a single layer here.

    `steps` has the calls in the order in which they ran, as layer and number of the call.
    """

    layers: tuple[FlowLayer, ...]
    steps: tuple[tuple[int, int], ...] = ()

    @classmethod
    def find(cls, original: Observation) -> Flow:
        layers = []
        for layer in original.structure.layers:
            sources = (source for call in layer.calls for source, _, _ in tensors([call.args, call.kwargs]))
            layers.append(FlowLayer(layer.ident, layer.holder, tuple(dict.fromkeys(sources))))
        runs = [run for run in (original.inference, original.training) if run is not None]
        steps = dict.fromkeys((step.layer, step.call) for run in runs for step in run.steps)
        return cls(tuple(layers), tuple(steps))

    def time(self, place: Place | None) -> int:
        """When the layer at a place first ran; others are later, the model is last."""
        if place is None or place.layer < 0:
            return 10**9
        layer = self.first_place(place.layer)
        time = self._times.get((layer, place.use), self._times.get((layer, 0)))
        return 10**6 + place.layer if time is None else time

    def start_time(self, place: Place | None) -> int:
        """When the layer at a place, or a layer in it, first ran."""
        times = [self.time(place)]
        if place is not None:
            holder = self.first_place(place.layer)
            times += [self._times.get((layer, 0), 10**9) for layer in self._holders if holder in self._holders[layer]]
        return min(times)

    def are_related(self, place: Place | None, other: Place | None) -> bool:
        """Whether two places are the same layer, or one holds the other."""
        if place is None or other is None:
            return False
        if place.layer < 0 or other.layer < 0:
            return place.layer == other.layer or place.container or other.container
        is_same = self.first_place(place.layer) == self.first_place(other.layer)
        return is_same or self.holds(place.layer, other.layer) or self.holds(other.layer, place.layer)

    def holds(self, holder: int, layer: int) -> bool:
        return self.first_place(holder) in self._holders[self.first_place(layer)]

    def reaches(self, place: Place, other: Place) -> bool:
        """Whether the layer at `place` can affect the outputs at `other`."""
        if self.are_related(place, other):
            return True
        source = self.first_place(place.layer)
        return min(place.layer, other.layer) >= 0 and source in self._ancestors(self.first_place(other.layer))

    def first_place(self, layer: int) -> int:
        """The index of a layer's first place."""
        return self._first_places[layer] if 0 <= layer < len(self._first_places) else layer

    def _ancestors(self, layer: int) -> set[int]:
        """Every layer that can affect `layer`'s outputs."""
        ancestors = self._ancestors_cache.setdefault(layer, set())
        pending = [layer] if not ancestors else []
        while pending:
            new_layers = self._sources[pending.pop()] - ancestors
            ancestors |= new_layers
            pending += new_layers
        return ancestors

    @cached_property
    def _ancestors_cache(self) -> dict[int, set[int]]:
        return {}

    @cached_property
    def _first_places(self) -> list[int]:
        indices: dict[int, int] = {}
        return [indices.setdefault(layer.ident, index) for index, layer in enumerate(self.layers)]

    @cached_property
    def _times(self) -> dict[tuple[int, int], int]:
        return {step: time for time, step in enumerate(self.steps)}

    @cached_property
    def _holders(self) -> defaultdict[int, set[int]]:
        """Each layer's holders, without the model."""
        holders: defaultdict[int, set[int]] = defaultdict(set)
        for index, layer in enumerate(self.layers):
            holders[self._first_places[index]].update(map(self.first_place, self._holders_of(layer)))
        return holders

    @cached_property
    def _sources(self) -> defaultdict[int, set[int]]:
        """Each layer's direct sources: sublayers, inputs, and its holders' inputs."""
        direct_sources: defaultdict[int, set[int]] = defaultdict(set)
        for index, layer in enumerate(self.layers):
            direct_sources[self._first_places[index]].update(map(self.first_place, layer.sources))
        sources = defaultdict(set, {index: set(layers) for index, layers in direct_sources.items()})
        for index, layer in enumerate(self.layers):
            place = self._first_places[index]
            for holder in map(self.first_place, self._holders_of(layer)):
                sources[place] |= direct_sources[holder] - {place}
            if layer.holder >= 0:
                sources[self.first_place(layer.holder)].add(place)
        return sources

    def _holders_of(self, layer: FlowLayer) -> Iterator[int]:
        """A layer's holders, the innermost first."""
        while layer.holder >= 0:
            yield layer.holder
            layer = self.layers[layer.holder]
