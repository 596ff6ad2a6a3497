"""What a drawn graph is cloned with: read from a few digits, as far as Keras can build what is asked for.

Parts are sampled uniformly: there is one that is as likely as any other, and now and then more beside it. A part that
asks for nothing is not offered; where Keras can build none of a few that are, the model is cloned plainly.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple, TypeVar, get_args

from msgspec import structs

from clonediff.strategies.asking import infer, keras
from clonediff.strategies.chains import plainly_built, plainly_built_within
from clonediff.strategies.clone_arguments import DTYPES, OTHER_SHAPES, features_of, inner_layer, inputs_of, makes_none
from clonediff.strategies.graph import (
    OF_ALL,
    CallChange,
    CallFunction,
    CloneArguments,
    CloneChange,
    CloneFunction,
    Graph,
    Items,
    Made,
    NewInputs,
    Ref,
    Value,
    Wrong,
    all_layers,
    levels,
)
from clonediff.strategies.kinds import CATALOGUE, Generation, Kind
from clonediff.strategies.kinds.forms import FUNCTIONS, can_be_set, forms_of, is_shared
from clonediff.strategies.no_oracle import unsaid
from clonediff.strategies.targets import is_no_layer

T = TypeVar("T")

DIGITS = 6
"""How many they are read from: two for the first part, what that does, what stands beside it, two for what those do."""
BESIDE = {"recursive": 2, "inputs": 4, "clone_function": 4, "call_function": 4}
"""One in so many clone arguments has each of these beside its first part. Few models have models in them to go into."""
TRIES = 4
"""So many are tried at most for a part, and half as many of one sort."""
_ENDLESS: Mapping[Generation, Mapping[tuple[str, str], int]] = {
    "tf_keras": {("inputs", "made"): 2, ("inputs", "inner"): 2, ("clone_function", "model"): 4}
}
"""What a generation clones for ever, so that each costs the limit of a trial, is left out of all but one in so
many: what a layer gave (tf_keras/src/models/cloning.py:203), a model in the place of a layer
(tf_keras/src/engine/functional.py:1497), which far more graphs have.
"""
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
_SET_IN_FORMS = ("activation", "kernel_initializer", "kernel_regularizer", "kernel_constraint")
_FORMED: tuple[tuple[str, Value], ...] = tuple(
    (argument, form)
    for argument in _SET_IN_FORMS
    for form in forms_of(argument)
    if can_be_set(argument, form) and not is_shared(form) and (argument != "activation" or form.form in FUNCTIONS)
)
"""What it sets that is a function or an object of one's own: as many of these as of the plain values.

An activation that is a layer is not among them, since each one that is made has another name; nor is an object that is
shared, which the function gives the original's layer and the clone's.
"""
_OF_EVERY_LAYER = ("trainable", "dtype")
_SWAPS: tuple[CloneChange, ...] = ("dense", "recurrent")

_CHANGES_INSIDE: tuple[CloneChange, ...] = tuple(each for each in get_args(CloneChange) if each != "raises")

Kinds = Mapping[str, Kind]


class Sort(NamedTuple):
    """A part of clone arguments, by the name that it has in `CloneArguments`, and what it does."""

    part: str
    does: str = ""


RECURSES = Sort("clone_function", "recurses")
SORTS: tuple[Sort, ...] = (
    *(Sort("inputs", how) for how in get_args(NewInputs)[1:]),
    *(Sort("clone_function", change) for change in get_args(CloneChange)),
    RECURSES,
    *(Sort("call_function", change) for change in get_args(CallChange)),
    Sort("recursive"),
    *(Sort("wrong", wrong) for wrong in get_args(Wrong)[1:]),
)
"""Each is the first part as often as the next, where the graph has something for both. What is wrong costs
little and stands alone: it is drawn half as often."""


def sorts_of(arguments: CloneArguments) -> list[Sort]:
    """The parts of clone arguments."""
    functions = (("clone_function", arguments.clone_function), ("call_function", arguments.call_function))
    given = [Sort(part, its.change) for part, its in functions if its is not None]
    words = (("inputs", arguments.inputs), ("wrong", arguments.wrong))
    given += [Sort(part, its) for part, its in words if its]
    recurses = arguments.clone_function is not None and arguments.clone_function.recurses
    return given + [RECURSES] * recurses + [Sort("recursive")] * arguments.recursive


def cloned(graph: Graph, digits: Sequence[int], features: Collection[str], kinds: Kinds = CATALOGUE) -> Graph:
    """The graph with the clone arguments that the digits stand for; as it is where that is `clone_model(model)`."""
    first, more, does, beside, others, do = digits
    if any(level.base is not None for level in levels(graph)):
        return graph
    endless = _ENDLESS.get(graph.generation or "keras", {})
    sorts = [sort for sort in SORTS if do % endless.get(sort, 1) == 0]
    order = _shuffled(sorts, 256 * more + first)
    if others % 2:
        order.sort(key=lambda sort: sort.part == "wrong")
    arguments = _one_of(graph, CloneArguments(), order, does, features, kinds)
    for number, (part, often) in enumerate(BESIDE.items()):
        if arguments is None or makes_none(arguments):
            break
        if beside // 4**number % often == often - 1 and not any(sort.part == part for sort in sorts_of(arguments)):
            its = [sort for sort in sorts if sort.part == part and sort.does != "raises"]
            arguments = _one_of(graph, arguments, _shuffled(its, others), do, features, kinds) or arguments
    return graph if arguments is None else _with(graph, arguments)


def _with(graph: Graph, arguments: CloneArguments) -> Graph:
    """The graph, cloned with these.

    One that gets inputs of another batch or shape has no Sequential that they build; nor has one whose models a
    function clones, since `tf_keras` calls the input that a Sequential gets by the name of its first layer.
    """
    built, function = plainly_built(graph), arguments.clone_function
    if arguments.inputs in OTHER_SHAPES or (function is not None and function.recurses):
        built = plainly_built_within(built)
    return structs.replace(built, clone_arguments=arguments)


def _one_of(
    graph: Graph, arguments: CloneArguments, sorts: Sequence[Sort], which: int, features: Collection[str], kinds: Kinds
) -> CloneArguments | None:
    """The arguments with a part of the first sort for which the model that is asked for can be built."""
    tries = TRIES
    for sort in sorts:
        of_this = TRIES // 2
        for offer in _offers(graph, arguments, sort, which, features, kinds):
            if not of_this or not all(each in features for each in features_of(offer)):
                break
            its = _with(graph, offer)
            if unsaid(its):
                continue
            if not keras().refuses(its):
                return offer
            tries, of_this = tries - 1, of_this - 1
            if not tries:
                return None
    return None


def _shuffled(items: Iterable[T], which: int) -> list[T]:
    """All of them in another order for each number, every order as likely as the next; as they are for 0."""
    items = list(items)
    return random.Random(which).sample(items, len(items)) if which else items


def _offers(
    graph: Graph, arguments: CloneArguments, sort: Sort, which: int, features: Collection[str], kinds: Kinds
) -> Iterator[CloneArguments]:
    """Arguments with a part of that sort: on layers of one kind or of all, with one of the settings that those have."""
    if sort == RECURSES:
        for function in _recursing(graph, which, features, kinds):
            yield structs.replace(arguments, clone_function=function)
    elif sort.part == "clone_function":
        does: CloneChange = sort.does  # type: ignore[assignment]  # one of them
        for function in _clone_functions(graph, does, which, arguments.recursive, features, kinds):
            offer = structs.replace(arguments, clone_function=function)
            if does == "channels first" and _are_others(graph, "transposed") and not arguments.inputs:
                yield structs.replace(offer, inputs="transposed")
            yield offer
    elif sort.part == "call_function":
        for kind in (None,) if sort.does == "plain" else _shuffled(_called(graph, arguments.recursive), which):
            if sort.does != "training" or _takes_training(kinds.get(kind or "")):
                yield structs.replace(arguments, call_function=CallFunction(sort.does, kind))  # type: ignore[arg-type]  # as well
    elif sort.part == "recursive" and _holds_models(graph):
        # To go into the models of the model is of use to a function.
        yield structs.replace(arguments, recursive=True, clone_function=arguments.clone_function or CloneFunction())
        yield structs.replace(arguments, recursive=True)
    elif sort.part == "inputs" and _are_others(graph, sort.does):  # type: ignore[arg-type]  # as well
        yield structs.replace(arguments, inputs=sort.does)
    elif sort.part == "wrong":
        yield structs.replace(arguments, wrong=sort.does)


def _holds_models(graph: Graph) -> bool:
    return any(layer.graph is not None for layer in graph.layers)


def _takes_training(kind: Kind | None) -> bool:
    return kind is not None and "training" in kind.call_options


def _are_others(graph: Graph, how: NewInputs) -> bool:
    """Whether such inputs are any others than fresh ones."""
    match how:
        case "turned":
            return isinstance(graph.takes, Items) and len(graph.takes.items) > 1
        case "listed":
            return isinstance(graph.takes, Ref)
        case "inner":
            return inner_layer(graph) is not None
    asked, fresh = (
        inputs_of(structs.replace(graph, clone_arguments=CloneArguments(inputs=each))) for each in (how, "fresh")
    )
    return asked != fresh or how not in (*DTYPES, *OTHER_SHAPES, "sparse")


def _clone_functions(
    graph: Graph, change: CloneChange, which: int, recursive: bool, features: Collection[str], kinds: Kinds
) -> Iterator[CloneFunction]:
    """Functions that do it to layers of one kind or to all, the others remade or kept."""
    there = _shuffled(_called(graph, recursive), which)
    if change == "set":
        formed = _shuffled(_FORMED, which)[: len(SETTINGS)] if "forms of values" in features else ()
        settings = (*SETTINGS, *formed)
        pairs = [(kind, key, value) for kind in there for key, value in settings if _has(kinds.get(kind), key)]
        functions = [CloneFunction(change, *pair) for pair in _shuffled(pairs, which)]
    elif change == "channels first":
        have_axes = [kind for kind in there if any(_has(kinds.get(kind), key) for key in ("data_format", "axis"))]
        functions = [CloneFunction(change, kind) for kind in have_axes]
    elif change == "unwrapped":
        wrappers = _wrappers(graph)
        functions = [CloneFunction(change, kind) for kind in there if kind in wrappers]
    elif change in _SWAPS:
        widths = _called(graph, recursive)
        functions = [CloneFunction(change, kind, value=widths[kind]) for kind in there if widths[kind]]
    else:
        functions = [CloneFunction(change, kind) for kind in there]
    if change in OF_ALL and (functions or change != "channels first"):
        functions.insert(which % 2 * len(functions), CloneFunction(change))
    for each in functions:
        kept = structs.replace(each, others="kept")
        offers = (each, kept) if which & 4 else (kept, each)
        yield from (each,) if each.kind is None else offers


_OF_TWO = {"keras": {"Bidirectional"}}
"""What makes two layers of the one that it is given, and keeps none of its name."""


def _wrappers(graph: Graph) -> set[str]:
    """The kinds of layers around one layer, which is their `layer`; without those around a model, where that would be
    cloned for ever.
    """
    endless = ("clone_function", "model") in _ENDLESS.get(graph.generation or "keras", {})
    inner = ((layer.kind, layer.arg("layer")) for layer in all_layers(graph))
    made = [(kind, its.layer) for kind, its in inner if isinstance(its, Made)]
    around = {kind for kind, _ in made} - {kind for kind, its in made if endless and its.kind == "Sequential"}
    return around - _OF_TWO.get(graph.generation or "keras", set())


def _recursing(graph: Graph, which: int, features: Collection[str], kinds: Kinds) -> Iterator[CloneFunction]:
    """Functions that go into the models of the model by themselves: one that does each thing."""
    if not _holds_models(graph):
        return
    for change in _shuffled(_CHANGES_INSIDE, which):
        for function in islice(_clone_functions(graph, change, which, True, features, kinds), 1):
            yield structs.replace(function, recurses=True)


def _has(kind: Kind | None, key: str) -> bool:
    return key in _OF_EVERY_LAYER or (kind is not None and (key in kind.options or key in kind.more))


def _called(graph: Graph, recursive: bool) -> dict[str, int | None]:
    """The kinds of layers that a function is asked about, in order of their names, and how wide is what one gives."""
    found: dict[str, int | None] = {}
    for level in levels(graph) if recursive else (graph,):
        for call, gives in zip(level.calls, infer(level)[len(level.inputs) :], strict=True):
            layer = level.layers[call.layer]
            if layer.graph is None and not is_no_layer(layer):
                found.setdefault(layer.kind, gives[0].shape[-1] if gives[0].shape else None)
    return dict(sorted(found.items()))
