"""Preparations: what may be done to a model before it is cloned.

Owns their table: to what each may be done, and the values of its arguments. Whether it can be done, Keras is asked;
where the right clone is undefined is in `clonediff.strategies.no_oracle`; `clonediff.harness.source.preparations` says
how each is typed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from clonediff.strategies.asking import fed, infer
from clonediff.strategies.compiling import VALUES, Values, compiled
from clonediff.strategies.graph import Array, Graph, Layer, Made, Named, Seq, Value, leaves
from clonediff.strategies.kinds import CATALOGUE, LEFT_OUT
from clonediff.strategies.targets import Target, level_of, targets

Args = Callable[[Graph, str | None], Mapping[str, Values]]


@dataclass(frozen=True, slots=True)
class PreparationSort:
    """A sort of preparation: its arguments, and what it may be done to.

    `args` gives the values of each argument, the simplest first, which is `LEFT_OUT` where it need not be given; with
    `one`, exactly one of them is given; done `plainly`, it is given these. It may be done to the `model`, and to layers
    of these `kinds`. One that is `costly` takes more time than the rest of a trial, and is for some graphs only. It is
    drawn by its `weight`: more often where it can be done in many ways.
    """

    args: Args
    plainly: tuple[tuple[str, Value], ...] = ()
    model: bool = True
    kinds: Callable[[str], bool] = lambda kind: False
    one: bool = False
    costly: bool = False
    weight: int = 1

    def on(self, graph: Graph) -> Iterator[str | None]:
        """The kinds of layers in the graph's model to which it may be done; None for the model itself."""
        if self.model:
            yield None
        yield from filter(self.kinds, targets(graph))


RATE = 3
"""Of so many graphs to which something is done, it is something costly with one."""


def _given(**values: Values) -> Args:
    """Arguments with the same values for every model."""
    return lambda graph, kind: values


def _any(kind: str) -> bool:
    return True


_WEIGHTS = {
    "Dense": "kernel",
    "EinsumDense": "kernel",
    "Conv1D": "kernel",
    "Conv2D": "kernel",
    "Embedding": "embeddings",
}
"""A weight that is an attribute of each layer of a kind."""


def _a_weight_frozen(graph: Graph, kind: str | None) -> dict[str, Values]:
    return {f"{_WEIGHTS[kind]}.trainable": (False,)} if kind in _WEIGHTS else {}


_ACTIVATED = ("Dense", "EinsumDense", "Conv1D", "Conv2D")

_WITHIN: Values = ("clone", "model", "both")
"""What is made within the scope in which a custom function is found: the clone, the model, or the one and the
other. Where it is the model, and Keras looks up such a name, the layer is given the name of the function."""
OWN_CLASS = "class"
"""That the class of the layer is found in the scope, and registered nowhere."""


def _is_custom(kind: str) -> bool:
    return kind in CATALOGUE and CATALOGUE[kind].family == "custom"


def _objects(graph: Graph, kind: str | None) -> dict[str, Values]:
    takes: Values = ("activation", "kernel_regularizer", "kernel_initializer")
    return {"takes": (OWN_CLASS,) if _is_custom(kind or "") else takes, "within": _WITHIN}


LEARNED: Mapping[str, tuple[str, ...]] = {
    "Normalization": ("mean", "variance"),
    "Discretization": ("bin_boundaries",),
    "IntegerLookup": ("vocabulary",),
    "StringLookup": ("vocabulary",),
    "TextVectorization": ("vocabulary",),
}
"""The arguments of a layer that are left out where it is adapted: it learns from data what they would tell."""
_OPEN = 3


def _adapted(graph: Graph, kind: str | None) -> dict[str, Values]:
    target = targets(graph).get(kind or "")
    return {"data": (LEFT_OUT,) if target is None else (_data(graph, target),)}


def _data(graph: Graph, target: Target) -> Value:
    """What a layer learns from: the words that it was to have, or numbers like those that it is called on."""
    vocabulary = target.layer.arg("vocabulary")
    if isinstance(vocabulary, Seq):
        return vocabulary
    level = level_of(graph, target.place)
    call = next(call for call in level.calls if call.layer == target.place[-1])
    return Array((2, *(size or _OPEN for size in fed(call, infer(level))[0].shape)))


_LOW_RANK = ("Dense", "EinsumDense", "Embedding")


def within(value: Value) -> Iterator[Value]:
    """Everything in a value, and in what the objects that it names are made with."""
    for leaf in leaves(value):
        yield leaf
        if isinstance(leaf, Named):
            for _, given in leaf.args or ():
                yield from within(given)


def costly(graph: Graph) -> bool:
    """Whether something is done to a model that takes more time than the rest of a trial."""
    return any(PREPARATIONS[each.does].costly for each in graph.preparations if each.does in PREPARATIONS)


PREPARATIONS: Mapping[str, PreparationSort] = {
    "compile": PreparationSort(compiled, (("optimizer", "sgd"), ("loss", "mse")), weight=5),
    "trainable": PreparationSort(_given(trainable=(False, True)), kinds=_any, weight=2),
    "weight trainable": PreparationSort(_a_weight_frozen, model=False, kinds=_WEIGHTS.__contains__),
    "policy": PreparationSort(_given(name=("mixed_bfloat16", "float64"))),
    "session": PreparationSort(
        _given(
            image_data_format=("channels_first",),
            floatx=("float64", "float16"),
            flash_attention=(False,),
            unsafe_deserialization=(True,),
        ),
        (("image_data_format", "channels_first"),),
        one=True,
        weight=2,
    ),
    "objects": PreparationSort(
        _objects,
        model=False,
        kinds=lambda kind: kind in _ACTIVATED or _is_custom(kind),
    ),
    "adapt": PreparationSort(_adapted, model=False, kinds=LEARNED.__contains__),
    "lora": PreparationSort(
        _given(rank=(1, 2), lora_alpha=(LEFT_OUT, 3)),
        model=False,
        kinds=_LOW_RANK.__contains__,
        weight=2,
    ),
    "quantize": PreparationSort(_given(mode=("int8", "float8", "int4")), costly=True),
    "hang": PreparationSort(_given(layer=(Made(Layer("Dense", (("units", 4),))),), built=(LEFT_OUT, True))),
}
"""What can be done to a model, by name."""


PATHS = frozenset(leaf.path for value in VALUES for leaf in within(value) if isinstance(leaf, Named))
"""The classes and functions of Keras that a preparation can name."""
