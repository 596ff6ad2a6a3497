"""The functions that `clone_model` is given: which suit a graph, so that the model that they ask for can be built."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from msgspec import structs

from strategies.asking import Question
from strategies.asking import gives as keras_gives
from strategies.graph import (
    Array,
    Call,
    CallFunction,
    CloneFunction,
    Function,
    Graph,
    Layer,
    MalformedGraph,
    Ref,
    Value,
    Way,
    all_layers,
    leaves,
    levels,
    made_layers,
)
from strategies.kinds import CATALOGUE, Generation, Kind, Spec, Specs, catalogue
from strategies.kinds.custom import OWN_OPERATION
from strategies.kinds.operations import is_operation
from strategies.pruning import pruned
from strategies.typing import fed, infer

SETTINGS: tuple[tuple[str, Value], ...] = (
    ("activation", "tanh"),
    ("activation", "relu"),
    ("recurrent_activation", "tanh"),
    ("use_bias", False),
    ("mask_zero", False),
    ("mask_zero", True),
    ("mask_value", 1.0),
    ("rate", 0.25),
    ("center", False),
    ("scale", False),
    ("epsilon", 0.01),
    ("go_backwards", True),
    ("trainable", False),
    ("dtype", "mixed_bfloat16"),
    ("dtype", "float64"),
)
"""What a clone function sets in the config of a layer: entries that say what an argument of the constructor says."""

_OF_A_WIDTH = {"dense": "Dense", "recurrent": "SimpleRNN"}
"""The layers of so many units that others are replaced by."""
_PUT_THERE = {**_OF_A_WIDTH, "replaced": "Activation"}
"""All layers that others are replaced by."""


class Seen(NamedTuple):
    """A call of a layer that a function of `clone_model` is asked about."""

    layer: Layer
    call: Call
    takes: Specs
    gives: Specs


@lru_cache(maxsize=32)
def typed(graph: Graph, generation: Generation | None = None) -> tuple[Specs, ...]:
    """What each node gives: of one graph, many ways are offered."""
    return infer(graph)


def unsuited_clone(graph: Graph, way: Way, function: CloneFunction) -> str:
    """What is wrong with the clone function of a way, "" where nothing is."""
    kind, change = function.kind, function.change
    if _has_own_operation(graph):
        return f"{OWN_OPERATION} is no layer"
    if _frozen(graph):
        return "whether what it gives is frozen with the model is not said anywhere"
    seen = _asked_about(graph, way.recursive)
    for layer, *_ in seen:
        does = change if kind in (None, layer.kind) else function.others
        if does != "kept" and not _in_its_config(layer, graph.generation):
            return f"{layer.kind} cannot be made again from its config"
    if kind is None and change == "renamed" and graph.generation != "keras" and _has_operations(graph):
        return "in Keras 2 operations are layers, which are renamed, too"
    if kind is None:
        return "" if change in ("remade", "kept", "renamed") else f"expected a kind for {change!r}"
    hit = [each for each in seen if each.layer.kind == kind and each.layer.graph is None]
    if not hit:
        return f"there is no layer of the kind {kind!r}"
    if change == "raises":
        if not any(each.layer.kind == kind for each in calls_seen(pruned(graph), way.recursive)):
            return f"nothing is asked about {kind}, which no output needs"
        return "" if way == Way(clone_function=function) else "what it raises is looked at alone"
    if change in _OF_A_WIDTH:
        return _unsuited_swap(graph, way, function, hit)
    for each in hit:
        if change == "model" and not (_of_one(each) and _once(each, hit) and not each.takes[0].mask):
            return f"{kind} cannot stand in a model of its own here"
        if change == "replaced" and not (_of_one(each) and each.takes[0].shape == each.gives[0].shape):
            return f"an Activation is nothing like {kind} here"
        if change == "wrapped" and not _distributed(each, graph.generation):
            return f"{kind} cannot be distributed over time here"
        if change == "nested" and not _of_one(each):
            return f"{kind} cannot stand in a Sequential here"
        if change == "nested" and any(each.layer is other.layer and each.takes != other.takes for other in hit):
            return f"a Sequential around a {kind} that is called on two shapes is made for the first"
    return _unsuited_setting(graph, way, function) if change == "set" else ""


def _once(each: Seen, hit: Sequence[Seen]) -> bool:
    return sum(other.layer is each.layer for other in hit) == 1


def widths(graph: Graph, recursive: bool) -> dict[str, list[int]]:
    """For each kind of layer how wide its tensors are, where all are of one width."""
    found: dict[str, set[int | None]] = {}
    for each in _asked_about(graph, recursive):
        found.setdefault(each.layer.kind, set()).update(spec.shape[-1] if spec.shape else None for spec in each.gives)
    return {kind: [size for size in sizes if size is not None] for kind, sizes in found.items() if len(sizes) == 1}


def _unsuited_swap(graph: Graph, way: Way, function: CloneFunction, hit: Sequence[Seen]) -> str:
    """What is wrong with a `Dense` or a `SimpleRNN` in the place of other layers."""
    kind, value = function.kind, function.value
    if type(value) is not int or value < 1:
        return f"expected a number of units, found {value!r}"
    if kind == _OF_A_WIDTH[function.change]:
        return f"{kind} is one already"
    for each in hit:
        if not _of_one(each) or each.gives[0].shape != (*each.takes[0].shape[:-1], value) or each.takes[0].rank < 1:
            return f"nothing of {value} units is like {kind} here"
        if function.change == "recurrent" and (each.takes[0].rank != 2 or None in each.takes[0].shape):
            return f"{kind} is not given steps here"
        if each.takes[0].shape[-1] is None:
            return f"{kind} is given an open width here"
    more: tuple[tuple[str, Value], ...] = (("return_sequences", True),) if function.change == "recurrent" else ()
    new = Layer(_OF_A_WIDTH[function.change], (("units", value), *more))
    return _alike(graph, _with_each(graph, kind, way.recursive, lambda layer: structs.replace(new, name=layer.name)))


def _with_each(graph: Graph, kind: str | None, recursive: bool, change: Callable[[Layer], Layer]) -> Graph:
    """The graph with each layer of a kind changed; with `recursive`, in the models within it, too."""
    layers = []
    for layer in graph.layers:
        if layer.graph is not None and recursive:
            layer = structs.replace(layer, graph=_with_each(layer.graph, kind, recursive, change))
        elif layer.kind == kind:
            layer = change(layer)
        layers.append(layer)
    return structs.replace(graph, layers=tuple(layers))


def _alike(graph: Graph, other: Graph, dtypes: bool = True) -> str:
    before = typed(graph)
    try:
        after = infer(other)
    except MalformedGraph as error:
        return str(error)
    shapes = [[(spec.shape, dtypes and spec.dtype) for node in each for spec in node] for each in (before, after)]
    return "" if shapes[0] == shapes[1] else "its tensors are others"


def settings_of(kind: str, generation: Generation | None) -> list[tuple[str, Value]]:
    """What a clone function may set in the config of a layer of that kind."""
    known = catalogue(generation).get(kind)
    if known is None:
        return []
    return [each for each in SETTINGS if _has_setting(known, *each)]


def _has_setting(kind: Kind, key: str, value: Value) -> bool:
    if key == "mask_value":
        return value in kind.options.get(key, ())  # a Hashing hides what it hashes, a Masking a number
    return True


def _unsuited_setting(graph: Graph, way: Way, function: CloneFunction) -> str:
    key, value, kind = function.key, function.value, function.kind
    if not any(key == name and type(value) is type(known) and value == known for name, known in SETTINGS):
        return f"nothing is known of {key!r} set to {value!r}"
    known = catalogue(graph.generation).get(kind or "")
    if known is None or not _has_setting(known, key, value):
        return f"{kind} has no {key!r}"
    if key == "trainable":
        return ""
    if key == "dtype" and says_a_default(graph):
        return f"with {key} set, {UNKNOWN_WHOSE}"

    def change(layer: Layer) -> Layer:
        if key == "dtype":
            return structs.replace(layer, dtype=value)
        return structs.replace(layer, args=(*((name, each) for name, each in layer.args if name != key), (key, value)))

    wrong = _alike(graph, _with_each(graph, kind, way.recursive, change), dtypes=key != "dtype")
    return f"with {key} set to {value!r}: {wrong}" if wrong else ""


UNKNOWN_WHOSE = "calls are on tensors of another dtype; whether `training=False` is the user's nobody can tell then"


def says_a_default(graph: Graph) -> bool:
    """Whether a call is given what Keras 3 writes down of its own accord, but where it converts what a layer takes."""
    calls = (call for level in levels(graph) for call in level.calls)
    return graph.generation == "keras" and any(("training", False) in call.kwargs for call in calls)


def unsuited_call(graph: Graph, way: Way, function: CallFunction) -> str:
    """What is wrong with the call function of a way, "" where nothing is."""
    kind = function.kind
    if _has_own_operation(graph):
        return f"{OWN_OPERATION} is no layer"
    if graph.sequential:
        return "a Sequential is not called layer by layer"
    if (kind is None) != (function.change == "plain"):
        return f"expected a kind for all but 'plain', found {kind!r} for {function.change!r}"
    if kind is None:
        return ""
    seen = [each for each in calls_seen(graph, way.recursive, chains=False) if each.layer.kind == kind]
    if not seen:
        return f"no layer of the kind {kind!r} is called"
    if function.change == "training":
        known = catalogue(graph.generation).get(kind)
        return "" if known is not None and "training" in known.call_options else f"{kind} takes no `training`"
    if _frozen(graph):
        return "whether the new layer is frozen with the model is not said anywhere"
    if any(len(calls) > 1 for calls in _calls_of(graph, _becoming(kind, way.clone_function))):
        return f"a layer of the kind {kind} is called twice, and what is inserted has one name"
    return "" if all(map(_of_one, seen)) else f"{kind} takes or gives several tensors here"


def _frozen(graph: Graph) -> bool:
    return not all(level.trainable for level in levels(graph)) or not all(
        layer.trainable for layer in all_layers(graph) if layer.graph is not None
    )


def _becoming(kind: str, function: CloneFunction | None) -> tuple[str | None, ...]:
    """The kinds whose layers are of that kind when they are called: it, and one that is replaced by it."""
    if function is None or _PUT_THERE.get(function.change) != kind:
        return (kind,)
    return kind, function.kind


def _calls_of(graph: Graph, kinds: Collection[str | None]) -> Iterator[list[Call]]:
    """The calls of each layer of some kinds, at each level."""
    for level in levels(graph):
        for number, layer in enumerate(level.layers):
            if layer.kind in kinds:
                yield [call for call in level.calls if call.layer == number]


@lru_cache(maxsize=8)
def _asked_about(graph: Graph, recursive: bool) -> tuple[Seen, ...]:
    return tuple(calls_seen(graph, recursive))


def calls_seen(
    graph: Graph, recursive: bool, chains: bool = True, generation: Generation | None = None
) -> Iterator[Seen]:
    """The calls that are made of layers; with `chains`, those in Sequentials too."""
    generation = graph.generation or generation
    given = typed(graph)
    for number, call in enumerate(graph.calls if chains or not graph.sequential else ()):
        layer = graph.layers[call.layer]
        if layer.graph is not None and recursive:
            yield from calls_seen(layer.graph, recursive, chains, generation)
        elif layer.graph is not None or not is_operation(layer.kind):
            yield Seen(layer, call, fed(call, given), given[len(graph.inputs) + number])


def _in_its_config(layer: Layer, generation: Generation | None) -> bool:
    """Whether `from_config(get_config())` makes it again: nothing in it is a function, or was changed since.

    In Keras 2 a config is read back by the names of classes, and those of a script are not among them.
    """
    inside = [*made_layers(layer), *(all_layers(layer.graph) if layer.graph is not None else ())]
    if generation != "keras" and any(_family(each) == "custom" for each in inside):
        return False
    if generation == "tf_keras" and any(each.kind in _READ_BACK_WRONG for each in inside):
        return False
    return not any(each.kind in _NOT_IN_CONFIG or each.marks or _is_of_code(each) for each in (layer, *inside))


def _is_of_code(layer: Layer) -> bool:
    """Whether it is an operation with a function or an array, which stands in no config that can be read back."""
    given = [leaf for _, value in layer.args for leaf in leaves(value)]
    return is_operation(layer.kind) and any(isinstance(each, (Array, Function)) for each in given)


_READ_BACK_WRONG = ("operator.equal", "operator.not_equal", "tf.einsum")
"""Operations that lose a tensor where tf_keras makes a model from its config."""


_NOT_IN_CONFIG = ("Lambda", "RandomShear")
"""Kinds that `from_config` refuses what `get_config` says of."""


def _family(layer: Layer) -> str:
    return CATALOGUE[layer.kind].family if layer.kind in CATALOGUE else ""


def _has_operations(graph: Graph) -> bool:
    return any(is_operation(layer.kind) for layer in all_layers(graph))


def _has_own_operation(graph: Graph) -> bool:
    """Whether one is there of which it is not said, release by release, that a function is asked about it."""
    return any(layer.kind == OWN_OPERATION for layer in all_layers(graph))


def _of_one(seen: Seen) -> bool:
    """Whether it makes one tensor of floats of another, and nothing else is said of the call."""
    layer, call, takes, gives = seen
    plain = all(spec.dtype == "float32" and spec.rank > 0 for spec in (*takes, *gives))
    one = len(takes) == len(gives) == len(call.args) == 1 and isinstance(call.args[0], Ref)
    return plain and one and not call.kwargs and layer.dtype is None


def _distributed(seen: Seen, generation: Generation | None) -> bool:
    """Whether the layer does with each step alone what it does with all of them."""
    layer, _, takes, gives = seen
    kind = catalogue(generation).get(layer.kind)
    if kind is None or not _of_one(seen) or takes[0].rank < 2 or None in takes[0].shape:
        return False
    tells_axis = generation == "tf_keras" and kind.name == "BatchNormalization"
    if tells_axis or layer.arg("axis") is not None or kind.family == "custom":
        return False  # A layer that is built has the number of its axis in its config; ours may not tell their shapes.
    step = Spec(takes[0].shape[1:], takes[0].dtype)
    made = keras_gives(Question(layer, (step,), (Call(0, (Ref(0),)),)))
    return made is not None and len(made) == 1 and (takes[0].shape[0], *made[0].shape) == gives[0].shape
