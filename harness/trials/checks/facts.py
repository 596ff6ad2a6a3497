"""Facts of a model and its layers: settings, what it is compiled with, and all that they hold, at any depth.

What differs is told of structure, what the original has as well of `own`, and what was one object and is two, or the
other way about, of `sharing`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import NamedTuple

from clonediff.harness.observation import NAMED, SAME, SHARED, LayerSeen, Shape, same_fact
from clonediff.harness.trials.checks.aspects import differs
from clonediff.harness.trials.checks.pairing import Pair
from clonediff.harness.trials.checks.places import at, is_within, place
from clonediff.harness.trials.checks.skeletons import MISSING
from clonediff.reports.records import Difference

_ELSEWHERE = re.compile(r"=(-?\d+)(.*)", re.DOTALL)
INDEX = re.compile(r"\[(?:'[^']*'|\"[^\"]*\"|[^\[\]'\"]*)\]")

_OF_CALLED = (".input", ".output", ".input_shape", ".output_shape", ".losses", ".updates", ".state_updates")
"""What comes of the calls of a layer: where one of them is in no graph of the model, no clone can have it."""
_SPECS = (".input_spec", ".state_spec", ".constants_spec")
"""The same of layers; a model has them from its inputs."""
_FALSE_IF_MISSING = (".is_awq_calibrated", ".is_gptq_calibrated")
"""What reading weights from a file sets; Keras takes a layer without it for one where it is False."""
_COMES_WITH_WEIGHTS = (".is_adapted", ".bin_boundaries")
"""Before Keras 3, what a layer has learned from data is in its weights; what it was given is in its config."""
_TOLD_ELSEWHERE = (*_COMES_WITH_WEIGHTS, ".input_names", ".output_names", "config.trainable")
_NO_CONFIG = "config.get_config"
"""The one fact of a config that cannot be read."""
_OF_INPUTS = (".is_placeholder", ".batch_size")
"""How an input was made, which may be around a tensor; that a clone has new ones, of the same shape, is documented."""


class _Fact(NamedTuple):
    """A fact that is another in the clone: of a layer, or of the model for -1, and of its `twin` in the clone."""

    layer: int
    twin: int
    path: str
    expected: str
    actual: str

    @property
    def name(self) -> str:
        """The path without what is counted or chosen in it: "kernel_initializer.seed"."""
        return INDEX.sub("", self.path).lstrip(".")

    def differs(self, pair: Pair, check: str, aspect: str, expected: str, actual: str) -> Difference:
        original = pair.shapes[0]
        path = f"attribute{self.path}" if self.path.startswith(".") else self.path
        path, first = f"{at(original, self.layer)}.{path}", place(original, self.layer)
        return differs(check, aspect, path, expected, actual, first)


def facts(pair: Pair) -> Iterator[Difference]:
    """What a model and its layers hold, and hold otherwise in the clone."""
    for fact in _unlike(pair):
        expected, actual = (text.removeprefix(SHARED).partition(NAMED)[0] for text in (fact.expected, fact.actual))
        if expected != actual and SAME not in (expected[:1], actual[:1]):
            aspect = f"attribute.{fact.name}" if fact.path.startswith(".") else fact.name
            yield fact.differs(pair, "structure", aspect, expected, actual)


def shared(pair: Pair) -> Iterator[Difference]:
    """What can change, and is held by the clone and by the original."""
    clone = pair.shapes[1]
    theirs = {layer.ident for layer in pair.original.shape.layers}
    for fact in _unlike(pair):
        if fact.expected.startswith(SHARED) or not fact.actual.startswith(SHARED):
            continue
        if fact.twin < 0 or clone.layers[fact.twin].ident not in theirs:  # or it was asked for, or is told of the layer
            actual = f"the original's {fact.actual.removeprefix(SHARED)}"
            yield fact.differs(pair, "own", "object shared", "an object of its own", actual)


def parted(pair: Pair) -> Iterator[Difference]:
    """What was one object and is two, or was two and is one."""
    for fact in _unlike(pair):
        ours, theirs = fact.expected.startswith(SAME), fact.actual.startswith(SAME)
        if MISSING not in (fact.expected, fact.actual) and (ours or theirs):
            aspect = f"{'unshared' if ours else 'merged'}.{fact.name}"
            yield fact.differs(pair, "sharing", aspect, _said(pair, fact.expected), _said(pair, fact.actual))


def _said(pair: Pair, fact: str) -> str:
    match = _ELSEWHERE.fullmatch(fact)
    return f"the same as {at(pair.shapes[0], int(match[1]))}{match[2]}" if match else "one of its own"


@functools.lru_cache(maxsize=4)
def _unlike(pair: Pair) -> tuple[_Fact, ...]:
    """The facts that are others in the clone, looked for once for all three checks."""
    original, clone = pair.shapes
    unlike = list(_unlike_facts(pair, -1, -1, original, clone))
    for index, twin in pair.layers.pairs:
        layer, counterpart = original.layers[index], clone.layers[twin]
        if layer.kind == counterpart.kind:
            unlike += _unlike_facts(pair, index, twin, layer, counterpart)
    return tuple(unlike)


def _unlike_facts(
    pair: Pair, index: int, twin: int, layer: LayerSeen | Shape, counterpart: LayerSeen | Shape
) -> Iterator[_Fact]:
    """Of a layer, or of the model. Of what is inside of something that is another, no more is said."""
    ours, theirs = _settings(layer), _settings(counterpart)
    if layer.attributes and counterpart.attributes and layer.kind == counterpart.kind:
        ours, theirs = {**ours, **layer.attributes}, {**theirs, **counterpart.attributes}
    theirs = {path: _placed(fact, pair) for path, fact in theirs.items()}
    passed = [*_TOLD_ELSEWHERE, *(_OF_INPUTS if layer.kind == "InputLayer" else ())]
    if _NO_CONFIG in ours.keys() ^ theirs.keys():
        passed += [path for path in (*ours, *theirs) if path.startswith("config.") and path != _NO_CONFIG]
    if not (_is_all_here(layer) and _is_all_here(counterpart)):
        passed += (*_OF_CALLED, *(_SPECS if index >= 0 else ()))
    for path in sorted({*ours, *theirs}) if ours != theirs else ():
        want, have = ours.get(path, MISSING), theirs.get(path, MISSING)
        if same_fact(want, have) or any(is_within(path, outer) for outer in passed):
            continue
        passed.append(path)
        if not (path in _FALSE_IF_MISSING and {want, have} == {"False", MISSING}):
            yield _Fact(index, twin, path, want, have)


def _settings(layer: LayerSeen | Shape) -> dict[str, str]:
    """What the config of a layer has, or what the model is compiled with."""
    if isinstance(layer, LayerSeen):
        return {path if path.startswith(".") else f"config.{path}": fact for path, fact in layer.config.items()}
    compiled = {f"compiled.{part}": fact for part, fact in (layer.compiled or {}).items()}
    return {"compiled": str(layer.compiled is not None).lower(), **compiled}


def _is_all_here(layer: LayerSeen | Shape) -> bool:
    """Whether a layer is called in this model only; of the model itself, calls say nothing."""
    return isinstance(layer, LayerSeen) and layer.nodes[0] == len(layer.calls)


def _placed(fact: str, pair: Pair) -> str:
    """A fact of the clone with the number of the original's layer in it."""
    match = _ELSEWHERE.fullmatch(fact) if fact.startswith(SAME) else None
    return f"={pair.layers.originals.get(int(match[1]), int(match[1]))}{match[2]}" if match else fact
