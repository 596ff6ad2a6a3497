"""What an object does when it is used, as text to compare: what a layer gives, a loss costs, an optimizer writes.

Everything is used on the same numbers each time. An exception is an answer too. How objects that are no layers are used
is a text for each way, so that a script can use them so as well.
"""

from __future__ import annotations

import inspect
from typing import Any, Iterator

import numpy as np

from .digests import Digests
from .frameworks.interface import Framework
from .structure import leaves
from .try_call import numbers_like

SIZES = (8, 32, 16, 64)
"""What is tried for the sizes that the inputs of a model leave open."""

_FLAT = "np.float32([[0.2, 0.5, 0.3], [0.1, 0.1, 0.8], [0.6, 0.3, 0.1], [0.3, 0.3, 0.4]])"
_WIDE = 'np.arange(24, dtype="float32").reshape(2, 3, 4) % 7 / 28 + 0.1'
_PAIRS = (
    "np.float32([[0, 1, 0], [1, 0, 0], [0, 0, 1], [1, 1, 0]]), " + _FLAT,
    "np.int32([0, 2, 1, 1]), " + _FLAT,
    "np.float32([[3, -1, 0.5], [2, 0, 0.25]]), np.float32([[1, 2, -0.25], [0.5, 0.75, -3]])",
    'np.arange(24, dtype="float32").reshape(2, 3, 4) % 3 % 2, ' + _WIDE,
    "np.int32([[0, 3, 1], [2, 2, 0]]), " + _WIDE,
    "np.int32([[0, 3, 1, 1], [2, 2, 0, 1]]), " + _WIDE,
    "np.float32([0, 1, 1, 0]), np.float32([0.1, 0.4, 0.8, 0.6])",
)
"""What is true and what was said, in the forms that some loss or metric takes."""
_SHAPES = ("(3, 4)", "(4, 4)", "(2, 2, 3, 4)")
_MATRICES = tuple('np.sin(np.arange(np.prod(%s), dtype="float32")).reshape%s' % (each, each) for each in _SHAPES)

_OPTIMIZED = """\
def use(made):
    weights = [keras.Variable(np.sin(np.arange(6, dtype="float32")).reshape(3, 2)), keras.Variable(np.float32([1, -1]))]
    for step in range(4):
        gradients = [keras.ops.convert_to_tensor(np.cos(np.array(each) + step)) for each in weights]
        made.apply_gradients(zip(gradients, weights))
    return weights
"""
_MEASURED = """\
def use(made):
    made.update_state(%s)
    return made.result()
"""
_CALLED = """\
def use(made):
    return made(%s)
"""
USES = {
    "loss": tuple(_CALLED % each for each in _PAIRS),
    "metric": tuple(_MEASURED % each for each in _PAIRS),
    "optimizer": (_OPTIMIZED,),
    "schedule": tuple(_CALLED % each for each in (0, 1, 2, 5, 11, 100)),
    "initializer": tuple(_CALLED % each for each in _SHAPES),
    "regularizer": tuple(_CALLED % each for each in _MATRICES),
    "constraint": tuple(_CALLED % each for each in _MATRICES),
}
"""The ways in which an object of a sort is used: each is a function of it."""


class Uses:
    """How objects of one class are used. `proposals` are tensors and how a layer is given them, likely ones first."""

    def __init__(self, framework: Framework, sort: str, proposals: list[dict[str, Any]]) -> None:
        self._framework = framework
        self.sort = sort
        self._proposals = proposals
        self._digests = Digests()

    def ways(self, thing: Any) -> list[Any]:
        """The proposals for a layer, likely ones first; for another object, which is not called to be built, None."""
        if self.sort not in ("layer", "model"):
            return [None]
        return self._of_model(thing) or self._proposals

    def build(self, thing: Any, proposal: dict[str, Any] | None, known: bool) -> None:
        """Call a layer for the first time, which builds it; a graph is built, and called where that is not known."""
        if proposal is not None and not (known and proposal["given"] == "model"):
            self._called(thing, proposal, False)

    def all(self, thing: Any, proposal: dict[str, Any] | None) -> dict[str, list[str]]:
        """What it gives, by how it is used."""
        if self.sort in ("layer", "model"):
            return {} if proposal is None else dict(self._of_layer(thing, proposal))
        return {"use %d" % number: [self._used(thing, text)] for number, text in enumerate(USES.get(self.sort, ()))}

    def _used(self, thing: Any, text: str) -> str:
        names = {"np": np, "keras": self._framework.keras}
        self._framework.reseed(0)
        try:
            exec(compile(text, "<use>", "exec"), names)  # noqa: S102 - a text of this module
            return self._told(names["use"](thing))
        except Exception as error:  # whatever it says to it
            return "raises %s" % type(error).__name__
        finally:
            reset = getattr(thing, "reset_state", None)
            if self.sort == "metric" and reset is not None:
                reset()

    def _of_model(self, model: Any) -> list[dict[str, Any]]:
        """For a graph, whose inputs say what it is called on."""
        if not self._framework.is_graph(model):
            return []
        ends = self._framework.ends(model)[0]
        found = []
        for size in SIZES:
            shapes = [[size if each is None else int(each) for each in end.shape[1:]] for end in ends]
            specs = [{"shape": shape, "dtype": self._framework.dtype(end)} for shape, end in zip(shapes, ends)]
            found.append({"tensors": specs, "given": "model"})
        return found

    def _called(self, thing: Any, proposal: dict[str, Any], training: bool) -> Any:
        self._framework.reseed(0)
        tensors = numbers_like(proposal["tensors"], self._framework)
        how = proposal["given"]
        if how == "model":
            return self._framework.call(thing, self._framework.packed(thing, tensors), training)
        args = tensors if how == "each" else [tensors] if how == "list" else tensors[:1]
        return thing(*args, **({"training": training} if takes_training(thing) else {}))

    def _of_layer(self, layer: Any, proposal: dict[str, Any]) -> Iterator[tuple[str, list[str]]]:
        for training in (False, True) if takes_training(layer) or proposal["given"] == "model" else (False,):
            name = "training" if training else "inference"
            try:
                found = list(leaves(self._called(layer, proposal, training)))
                masks = [self._framework.mask(each) for each in found]
                costs = self._framework.losses(layer)
            except Exception as error:  # whatever it says to it
                yield name, ["raises %s" % type(error).__name__]
                continue
            yield name, [self._told(each) for each in found]
            yield name + " masks", ["no mask" if each is None else self._told(each) for each in masks]
            yield name + " losses", [self._told(each) for each in costs]

    def _told(self, value: Any) -> str:
        if value is None or isinstance(value, (str, int, float)):
            return repr(value)
        if isinstance(value, dict):
            return repr({str(key): self._told(each) for key, each in value.items()})
        if isinstance(value, (list, tuple)):
            return repr([self._told(each) for each in value])
        if self._framework.is_variable(value):
            value = self._framework.read(value)
        array, prefix = (value, "") if isinstance(value, np.ndarray) else self._framework.array(value)
        array = np.asarray(array)
        return "%s%s %s %s" % (prefix, array.dtype, array.shape, self._digests.digest(array))


def takes_training(layer: Any) -> bool:
    """Whether its call can be told that it is in training."""
    try:
        parameters = inspect.signature(layer.call).parameters.values()
    except (TypeError, ValueError):
        return False
    return any(each.name == "training" or each.kind is each.VAR_KEYWORD for each in parameters)
