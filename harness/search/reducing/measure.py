"""How large a graph is, as a total order: no two graphs are of the same size, and a reduction only ever goes down.

What is compared, the first difference deciding:

1. the lines of its script: inputs, calls, models, layers that are named because they are called several times or not at
   all, marks; at every level of nesting; two for each preparation
2. layers, those within arguments among them
3. tensors named: in the model's ends, what holds them, in calls, given by calls; and nodes that lead nowhere
4. how simple the kinds are, the simplest counting nothing
5. what is said beside that: arguments, names, dtypes, frozen parts, what an input has but its shape
6. ranks, dimensions and widths
7. how far values are from the first of their options, how much a function does
8. the length of its JSON, so of names; at last the JSON itself
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from clonediff.harness.search.reducing.records import Record, defaults, records, words
from clonediff.strategies.graph import (
    Array,
    Call,
    CloneArguments,
    CustomClass,
    Form,
    Function,
    Graph,
    Input,
    Items,
    Layer,
    Preparation,
    Seq,
    Value,
    all_layers,
    levels,
    refs,
    to_json,
)
from clonediff.strategies.kinds import CATALOGUE, LEFT_OUT
from clonediff.strategies.kinds.forms import FORMS as FORMS_OF
from clonediff.strategies.kinds.lambdas import EXPRESSIONS, FORMS, MASK_FORMS, MASKS, SHAPE_FORMS
from clonediff.strategies.kinds.operations import is_operation
from clonediff.strategies.preparations import PREPARATIONS
from clonediff.strategies.pruning import idle

PLAIN = ("Activation", "Dense", "Add", "Concatenate", "Masking", "SimpleRNN", "GRU", "LSTM", "Attention", "Lambda")
"""What other kinds are replaced by, the simplest first."""

WIDTHS = ("units", "filters", "output_dim", "n", "num_heads", "key_dim")
"""Arguments that are a dimension of what a layer gives, or of its weights: the smaller the simpler, down to 1."""

OPEN = 3
"""An open dimension counts as that many."""

CONTAINERS = words(Function)["container"]
"""How a function packs what it gives, the simplest first."""

PARTS: Mapping[type[Record], tuple[str, ...]] = {
    Graph: ("clone_arguments", "preparations", "custom_class", "sequential"),
    CloneArguments: tuple(defaults(CloneArguments)),
    CustomClass: tuple(defaults(CustomClass)),
}
"""What a graph has beside its layers and their calls: lines of its script."""

SAID: Mapping[type[Record], tuple[str, ...]] = {
    Graph: ("name", "trainable"),
    Layer: ("name", "trainable", "marks", "dtype"),
    Input: tuple(defaults(Input)),
}
"""What is said of each part. All other fields follow from the tensors, or are what the graph is made of."""

_FAMILIES = (
    *("core", "merging", "recurrent", "noise", "attention", "convolution", "wrappers", "encoding", "images", "signals"),
    *("conv_lstm", "lambdas", "custom"),
)
"""The simplest first: a custom layer is a class more in the script."""

_IN_ORDER = (
    *PLAIN,
    *(kind.name for family in _FAMILIES for kind in CATALOGUE.values() if kind.family == family),
)
_RANKS: Mapping[str, int] = {name: rank for rank, name in reversed(list(enumerate(_IN_ORDER)))}

Size: TypeAlias = tuple[int, int, int, int, int, int, int, int, bytes]


def size(graph: Graph) -> Size:
    """The size of a graph, to be compared with others."""
    every, layers, parts = list(levels(graph)), list(all_layers(graph)), list(records(graph, graph))
    text = to_json(graph)
    return (
        sum(map(_lines, every)) + _lines_of_clone_arguments(graph.clone_arguments) + 2 * len(graph.preparations),
        len(layers),
        sum(map(_tensors, every)),
        sum(rank(layer.kind) for layer in layers if layer.graph is None),
        sum(_said(part, level) for part, level in parts),
        graph.batch + sum(_room(part) for part, _ in parts),
        sum(_distance(part, level) for part, level in parts),
        len(text),
        text,
    )


def arguments(record: Record, graph: Graph) -> tuple[str, Mapping[str, tuple[Value, ...]]]:
    """The field with the arguments of a record, "" for none; and their values to choose from, the simplest first."""
    match record:
        case Layer():
            kind = CATALOGUE.get(record.kind)
            if kind is None:
                return "args", {}
            more = {key: (LEFT_OUT, *values) for key, values in kind.more.items()}
            if kind.arrange is None:
                return "args", {**more, **kind.options}
            # What its arguments are follows from words of the catalogue, and from its tensors.
            optional = [key for key, options in kind.options.items() if LEFT_OUT in options]
            return "args", {**more, **dict.fromkeys(kind.options, ()), **dict.fromkeys(optional, (LEFT_OUT,))}
        case Call():
            kind = CATALOGUE.get(graph.layers[record.layer].kind)
            return "kwargs", {} if kind is None else kind.call_options
        case Preparation():
            return "args", PREPARATIONS[record.does].args(graph, record.kind) if record.does in PREPARATIONS else {}
    return "", {}


def rank(kind: str) -> int:
    """The place of a kind among all, the simplest first. Cells are as simple as a Dense, operations come last."""
    return _RANKS.get(kind, len(_RANKS) if is_operation(kind) else 1)


def _lines(graph: Graph) -> int:
    uses = [call.layer for call in graph.calls]
    named = sum(uses.count(number) != 1 for number in range(len(graph.layers)))
    marks = sum(len(layer.marks) for layer in graph.layers)
    return 1 + len(graph.inputs) + len(graph.calls) + named + marks + _class(graph.custom_class)


def _class(custom: CustomClass | None) -> int:
    """The lines of a custom class, less those that make the model."""
    if custom is None:
        return 0
    return 9 if custom.makes else 4


def _lines_of_clone_arguments(given: CloneArguments | None) -> int:
    """The arguments that `clone_model` is given; a function is some lines more."""
    if given is None:
        return 0
    return int(bool(given.inputs)) + given.recursive + 3 * given.call_function


def _tensors(graph: Graph) -> int:
    ends = _nodes(graph.takes) + _nodes(graph.gives)
    values = [value for call in graph.calls for value in (*call.args, *(item for _, item in call.kwargs))]
    given = sum(call.outputs for call in graph.calls)
    return ends + len(idle(graph)) + given + sum(1 for value in values for _ in refs(value))


def _nodes(value: Value) -> int:
    match value:
        case Seq(items=items, form=form):
            return 1 + (form == "tuple") + sum(_nodes(item) for item in items)
        case Items(items=pairs):
            return 3 + sum(_nodes(item) for _, item in pairs)
    return 1


def _said(record: Record, graph: Graph) -> int:
    """What is said of a part: its arguments, and the fields that are not at their defaults."""
    kind = type(record)
    said: int = sum(getattr(record, name) != defaults(kind)[name] for name in SAID.get(kind, ()))
    field, _ = arguments(record, graph)
    told = len(getattr(record, field)) if field else 0
    return said + told + (record.shape.count(None) if isinstance(record, Input) else 0)


def _room(record: Record) -> int:
    match record:
        case Input(shape=shape):
            return sum(1 + (OPEN if length is None else length) for length in shape)
        case Layer(args=args):
            return sum(value for key, value in args if key in WIDTHS and isinstance(value, int))
    return 0


def _distance(record: Record, graph: Graph) -> int:
    """How far the words and the arguments of a part are from the simplest ones."""
    kind = type(record)
    those = words(kind) if kind in SAID or kind in PARTS else {}
    far: int = sum(choice.index(getattr(record, name)) for name, choice in those.items())
    field, options = arguments(record, graph)
    args: tuple[tuple[str, Value], ...] = getattr(record, field) if field else ()
    return far + sum(_far(value, options.get(key, ())) for key, value in args if key not in WIDTHS)


def _far(value: Value, options: tuple[Value, ...]) -> int:
    """How far a value is from the simplest there is for it."""
    told = [option for option in options if option != LEFT_OUT]
    if isinstance(value, Form):
        return len(told) + 1 + _place(value.form, FORMS_OF.get(value.sort, ()))
    if told:
        return next((place for place, option in enumerate(told) if same(option, value)), len(told))
    match value:
        case Function(form=form, gives=gives, container=container):
            forms, texts = (FORMS, EXPRESSIONS) if form in FORMS else ((*MASK_FORMS, *SHAPE_FORMS), MASKS)
            far = _place(form, forms) + sum(1 + _place(text, texts) for text in gives)
            return far + 2 * CONTAINERS.index(container)
        case Array(shape=shape):
            return 10 + sum(shape)
        case Seq(items=items):
            return sum(1 + _far(item, ()) for item in items)
    return 0


def same(one: Value, other: Value) -> bool:
    """Whether two values are one: 1, 1.0 and True are three."""
    return type(one) is type(other) and one == other


def _place(item: str, items: tuple[str, ...]) -> int:
    return items.index(item) if item in items else len(items)
