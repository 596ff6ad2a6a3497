"""The calls of a layer: how often, in which order, on what, and what they give. A part of the check of structure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from clonediff.harness.subjects.observation import CallSeen
from clonediff.harness.trials.checks.check import Aspect, Aspects, Comparison, computes, loses, nested
from clonediff.harness.trials.checks.flow import Flow
from clonediff.harness.trials.checks.links import Link, Spread, Thing, Turn
from clonediff.harness.trials.checks.pairing import Pair, map_tensors
from clonediff.harness.trials.checks.places import at, kind_of, place, short
from clonediff.harness.trials.checks.settings import WHOLE_CONFIG
from clonediff.harness.trials.checks.skeletons import Unlike, unlike
from clonediff.reports.records import Difference, Place

_MODELS = "for each in {}._flatten_layers() if isinstance(each, keras.Model)"
_COUNTED = {
    "keras": f'[len(getattr(each, "_functional", each)._nodes) {_MODELS}]',
    "tf_keras": f"[len(each._network_nodes) {_MODELS}]",
}
"""How many calls each model has in its graph: a layer that is lost from a Sequential stands in no config."""
_NODES = {
    "keras": "[[({0}(node.arguments.{1})) for node in each._inbound_nodes] for each in {{}}.operations]",
    "tf_keras": "[[({0}(node.call_{1})) for node in each.inbound_nodes] for each in {{}}.layers]",
}


def _counted(difference: Difference, dialect: str) -> Comparison:
    return Comparison(_COUNTED[dialect], sure=False) if dialect in _COUNTED else WHOLE_CONFIG


def arguments_before(difference: Difference, dialect: str) -> Comparison:
    """The arguments of all calls, for a model that is to be left as it was."""
    side = difference.aspect.partition(" ")[0].removeprefix("call.")
    if dialect not in _NODES or side not in ("args", "kwargs") or not difference.path.startswith("layers"):
        return WHOLE_CONFIG
    sure = difference.aspect.endswith(("missing", "extra")) and "/" not in difference.path.partition("']")[0]
    return Comparison(_NODES[dialect].format("sorted" if side == "kwargs" else "len", side), sure)


def _shown(difference: Difference, dialect: str) -> Comparison:
    """How many arguments each call has: of one that is lost, no config may tell."""
    if difference.aspect in ("call.args missing", "call.args extra"):
        return arguments_before(difference, dialect)
    return WHOLE_CONFIG


_NAMED = {
    "missing": "the {argument} of a call is lost{inside}",
    "extra": "there is {an_argument} among the arguments of a call{inside}, where there was none",
    "order": "the {argument} of a call comes in another order{inside}",
    "tensor": "the {argument} of a call is another tensor{inside}",
    "value": "the {argument} of a call has another value{inside}",
}


def _arguments(part: str, word: str, item: str) -> Iterator[Aspect]:
    """What can differ in the arguments of a call. Without a tensor, or on another, layers come in another order."""
    changes = (Thing.RESULTS, Thing.GIVERS, Thing.BUILD, Thing.CONTENT)
    for each in nested(loses, part, f"{word}s of a call{{of}}", f"{item} of a call{{of}}"):
        leaf = each.name.partition(" ")[2]
        yield replace(
            each,
            named=_NAMED.get(leaf, ""),
            changes=(*changes, Thing.LISTING) if leaf in ("missing", "tensor") else changes,
            shows=(Thing.WIRING,) if leaf == "tensor" else (),
            turn={"call.args type": Turn.FIRST, f"{part} missing": Turn.SETTINGS}.get(each.name, Turn.USUAL),
            any_layer=True,
            shown=_shown,
        )


ARGUMENTS = Aspects(
    "structure",
    _arguments("call.args", "argument", "an argument"),
    _arguments("call.kwargs", "keyword argument", "a keyword argument"),
)
ASPECTS = Aspects(
    "structure",
    ARGUMENTS,
    loses(
        ("call count", "{a} is called more often, or less,{inside}"),
        changes=(Thing.RESULTS, Thing.WIRING, Thing.LISTING, Thing.COPYING, Thing.BUILD, Thing.CONTENT),
        shows=(Thing.GIVERS,),
        any_layer=True,
        shown=_counted,
    ),
    loses(
        ("call order", "the calls of a shared {kind} come in another order{inside}"),
        quiet=True,
        changes=(Thing.WIRING, Thing.LISTING),
        any_layer=True,
    ),
    computes(
        ("call outputs", "a call of {a} gives another number of tensors{inside}"),
        changes=(Thing.CONTENT,),
        shows=(Thing.SETTINGS,),
        turn=Turn.VIEWS,
        any_layer=True,
    ),
)

_MAKE_WHEN_BUILT = ("MultiHeadAttention", "GroupedQueryAttention")
_BUILT_FOR_ONE_RANK = ("Normalization", "Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum")
"""What knows from its first call on how many dimensions it is called (normalization.py:189, base_merge.py:139)."""


def _of_one_call(cause: Difference, effect: Difference, flow: Flow) -> bool:
    one, other = cause.first, effect.first
    return one is not None and other is not None and (one.layer, one.use) == (other.layer, other.use)


LINKS = (
    Link("call order", "shape|raises", Spread.AROUND, lambda _, effect, flow: kind_of(effect) in _BUILT_FOR_ONE_RANK),
    # What each call adds to a gradient is added in another order.
    Link("call order", "*value", Spread.AROUND, lambda cause, effect, flow: effect.check == "training"),
    # An attention makes the layers in it for the rank of what it is called on.
    Link(
        "call.args type",
        "config.*",
        Spread.DOWNSTREAM,
        lambda cause, effect, flow: effect.first is not None and effect.first.inside in _MAKE_WHEN_BUILT,
    ),
    # A Sequential makes an input of its own for a tensor that it is called on, and for a list none.
    Link("call.args type", "layer *", Spread.AROUND, lambda _, effect, flow: kind_of(effect) == "InputLayer"),
    # A call with less in it gets its mask from Keras.
    Link("call.* missing", "call.kwargs extra", Spread.HERE, _of_one_call),
    # In graph mode, what computes from a tensor of the original asks for the original's inputs.
    Link("call.*", "raises", Spread.ANYWHERE, lambda cause, effect, flow: cause.found.startswith('{"outside"')),
)


def calls(pair: Pair, index: int, first: Place) -> Iterator[Difference]:
    """Every difference in the calls of a layer that both models have."""
    original, clone = pair.shapes
    layer, twin = original.layers[index], clone.layers[pair.layers.found[index]]
    paired, path = pair.calls[index], f"{at(original, index)}.calls"
    if len(layer.calls) != len(twin.calls):
        yield ASPECTS.differs("call count", path, f"{len(layer.calls)} calls", f"{len(twin.calls)} calls", first)
    if paired.moved:
        expected, got = map(short, paired.orders)
        yield ASPECTS.differs("call order", path, expected, got, first)
    for use, found in paired.pairs:
        call, its, here, where = layer.calls[use], twin.calls[found], place(original, index, use), f"{path}[{use}]"
        if call.outputs != its.outputs:
            yield ASPECTS.differs("call outputs", f"{where}.outputs", f"{call.outputs} tensors", f"{its.outputs}", here)
        for side, leaf in unlike_arguments(pair, call, its):
            yield ASPECTS.differs_in(f"call.{side}", f"{where}.{side}", leaf, here)


def unlike_arguments(pair: Pair, call: CallSeen, twin: CallSeen) -> Iterator[tuple[str, Unlike]]:
    """Each argument that differs, with "args" or "kwargs" for where it stands."""
    wants = [map_tensors(call.args, pair.tensor), map_tensors(call.kwargs, pair.tensor)]
    haves = [map_tensors(twin.args, pair.counterpart), map_tensors(twin.kwargs, pair.counterpart)]
    wants[0], haves[0] = _both_lists(wants[0], haves[0]), _both_lists(haves[0], wants[0])
    for side, want, have in zip(("args", "kwargs"), _alike_written(*wants, *haves), haves, strict=True):
        for leaf in unlike(want, have):
            yield side, leaf


_DEFAULT = {"value": "default"}


def _both_lists(args: Any, others: Any) -> Any:
    """Arguments, a tensor in a list where the other side has a list that begins with it: what is lost is the rest.

    Before Keras 3 that is how a recurrent layer is called with its initial state, and without.
    """
    if not isinstance(args, list) or not isinstance(others, list):
        return args
    alone = [
        isinstance(other, list) and len(other) > 1 and other[0] == mine
        for mine, other in zip(args, others, strict=False)
    ]
    return [[mine] if each else mine for mine, each in zip(args, alone, strict=False)] + args[len(alone) :]


def _alike_written(args: Any, kwargs: Any, its_args: Any, its_kwargs: Any) -> tuple[Any, Any]:
    """The arguments of a call, those by keyword that the clone has by keyword: it is the same call either way."""
    left = args[len(its_args) :]
    names = [name for name in its_kwargs if name not in kwargs]
    if len(names) < len(left):  # one that a call has by default is not told where it stands by keyword
        left = [value for value in left if value not in (None, _DEFAULT)]
    if not left or len(names) < len(left):
        return args, kwargs
    given: dict[str, Any] = {}
    for value in left:  # each goes to a keyword with its very value, if there is one
        free = [name for name in names if name not in given]
        given[next((name for name in free if its_kwargs[name] == value), free[0])] = value
    return args[: len(its_args)], {**{name: given[name] for name in names if name in given}, **kwargs}
