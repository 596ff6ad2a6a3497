"""A model called on the trial's inputs, with everything that its layers gave on the way."""

from __future__ import annotations

import contextlib
import functools
from typing import Any

from .description import Description
from .failures import failure
from .observer import Observer
from .structure import is_nested, leaves, numbered


class CallsOfLayers:
    """The calls of layers during one run: the layer, the nesting of what it returned, its leaves, and their masks."""

    def __init__(self, observer: Observer) -> None:
        self._mask = observer.framework.mask
        self._concrete = observer.framework.concrete
        self.calls: list[tuple[Any, Any, list[Any], list[Any]]] = []

    def __call__(self, layer: Any, result: Any) -> None:
        nested = is_nested(result)
        found = list(leaves(result)) if nested else [result]
        # A mask is read at once: it may be gone, or another's, by the time the model has returned.
        self.calls.append((layer, numbered(result)[0] if nested else 0, found, [self._mask(leaf) for leaf in found]))

    def concrete_calls(self, description: Description) -> list[tuple[int, int, Any, list[Any], list[Any]]]:
        """The calls of layers of this model whose tensors have numbers: the layer, its use, and what `calls` has."""
        index = description.layers.index
        uses: dict[int, int] = {}
        calls = []
        for layer, structure, found, masks in self.calls:
            number = index.get(id(layer))
            if number is None or not all(leaf is None or self._concrete(leaf) for leaf in found):
                continue
            use = uses.get(number, 0)
            uses[number] = use + 1
            calls.append((number, use, structure, found, masks))
        return calls


class Recorded:
    """A call whose gradients are to be told: the scope that it is made in, and what it gave, once it is `made`."""

    def __init__(self, scope: Any) -> None:
        self.scope = scope
        self.outputs: Any = None
        self.made = False


def run(
    description: Description,
    arrays: list[Any],
    observer: Observer,
    packing: Any,
    training: bool,
    recorded: Recorded | None = None,
) -> dict[str, Any]:
    """What `ModelRun` declares on the wire. `packing` is the model whose structure of inputs a caller knows."""
    framework = observer.framework
    model = description.model
    heard = CallsOfLayers(observer)
    answer: dict[str, Any] = {}
    result: Any = None
    losses: list[Any] = []
    try:
        inputs = framework.feed(packing, arrays)
        framework.reseed(observer.seed, observer.backend_draws)
        with framework.listen(heard), contextlib.nullcontext() if recorded is None else recorded.scope:
            result = framework.call(model, inputs, training)
        if recorded is not None:
            recorded.outputs, recorded.made = result, True
        losses = framework.losses(model)
    except Exception as error:  # whatever a model raises is an observation
        answer["failure"] = failure(error, below="call")
        result = None
    structure, outputs = numbered(result)
    masks = [framework.mask(leaf) for leaf in outputs]
    calls = heard.concrete_calls(description)
    reader = Reader(observer)
    reader.read([outputs, masks, losses] + [part for call in calls for part in call[3:]])
    answer["structure"] = structure
    answer["outputs"] = [reader.leaf(leaf, mask) for leaf, mask in zip(outputs, masks)]
    answer["steps"] = [
        {
            "layer": number,
            "use": use,
            "structure": structure,
            "outputs": [reader.leaf(leaf, mask) for leaf, mask in zip(found, seen)],
        }
        for number, use, structure, found, seen in calls
    ]
    answer["losses"] = [reader.digest(loss) for loss in losses]
    return answer


class Reader:
    """Turns the tensors of one run into digests, each tensor once."""

    def __init__(self, observer: Observer) -> None:
        self._framework = observer.framework
        self._observer = observer
        self._arrays: dict[int, Any] = {}
        self._read: dict[int, tuple[list[int], str, str]] = {}

    def read(self, groups: list[list[Any]]) -> None:
        """Fetch the numbers of all these tensors, which have to live for as long as this reader."""
        concrete, fetch, arrays = self._framework.concrete, self._framework.array, self._arrays
        for group in groups:
            for tensor in group:
                if tensor is not None and id(tensor) not in arrays and concrete(tensor):
                    arrays[id(tensor)] = fetch(tensor)

    def leaf(self, tensor: Any, mask: Any) -> dict[str, Any]:
        """A leaf as it is declared on the wire."""
        shape, dtype, digest = self._numbers(tensor)
        if mask is None:
            return {"shape": shape, "dtype": dtype, "digest": digest}
        return {"shape": shape, "dtype": dtype, "digest": digest, "mask": self.digest(mask)}

    def digest(self, tensor: Any) -> str:
        """The digest of a tensor, or of a number."""
        return self._numbers(tensor)[2]

    def _numbers(self, tensor: Any) -> tuple[list[int], str, str]:
        known = self._read.get(id(tensor))
        if known is not None:
            return known
        fetched = self._arrays.get(id(tensor))
        if fetched is not None:
            array, prefix = fetched
            answer = list(array.shape), prefix + dtype_name(array.dtype), self._observer.digests.digest(array, prefix)
            self._read[id(tensor)] = answer
            return answer
        if tensor is None:
            return [], "none", "none"
        return [], type(tensor).__name__, repr(tensor)[:40] if isinstance(tensor, (bool, int, float)) else ""


@functools.lru_cache(maxsize=None)
def dtype_name(dtype: Any) -> str:
    """The name of a NumPy dtype, which NumPy itself takes its time to tell."""
    return str(dtype)
