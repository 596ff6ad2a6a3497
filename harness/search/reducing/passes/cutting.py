"""Passes on a model that is cut out of another, its base."""

from __future__ import annotations

from msgspec import structs

from clonediff.harness.search.reducing.passes.bases import Offers, specs_of
from clonediff.harness.search.reducing.passes.connections import plain_ends
from clonediff.harness.search.reducing.rewiring import edited, swept, with_layer, without_leaf
from clonediff.strategies.cutting import apart, later_inputs
from clonediff.strategies.graph import Base, Graph, Ref, Seq, Value, refs
from clonediff.strategies.pruning import pruned


def forget_base(graph: Graph) -> Offers:
    """The model by itself, with inputs where it begins; its base; or the model, and all that leads nowhere."""
    specs = specs_of(graph)
    if graph.base is None or not specs:
        return
    yield apart(graph, specs)
    taken = dict.fromkeys(refs(graph.base.takes))
    rest = [Ref(node) for node in range(len(graph.inputs)) if Ref(node) not in taken]
    takes = Seq((*taken, *rest)) if rest else graph.base.takes
    yield pruned(structs.replace(graph, takes=takes, gives=graph.base.gives, base=None))
    yield edited(graph, takes=takes, base=None)


def forget_inner_base(graph: Graph) -> Offers:
    """A model inside, or its base, by itself."""
    for number, layer in enumerate(graph.layers):
        inner = layer.graph
        if inner is not None and inner.base is not None:
            alone = pruned(structs.replace(inner, takes=Seq(_inputs(inner)), base=None))
            takes = next(refs(alone.takes)) if len(alone.inputs) == 1 else alone.takes
            yield with_layer(graph, number, structs.replace(layer, graph=structs.replace(alone, takes=takes)))


def _inputs(inner: Graph) -> tuple[Ref, ...]:
    """Every input of a graph."""
    return tuple(Ref(node) for node in range(len(inner.inputs)))


def simplify_base(graph: Graph) -> Offers:
    """A base that gives what the model gives or begins at, one of its outputs, all but one, or all of them plainly.

    Where the model begins at inputs, the base may give one of these.
    """
    if graph.base is None:
        return
    later = later_inputs(graph)
    ends: list[Value] = [graph.gives, plain_ends(Seq(tuple(later)))] if later else [graph.gives]
    given = list(refs(graph.base.gives))
    ends += dict.fromkeys(given)
    ends += [without_leaf(graph.base.gives, place) for place in range(len(given) if len(given) > 2 else 0)]
    ends += [] if later else list(refs(graph.base.takes))[:1]
    for gives in (*ends, plain_ends(graph.base.gives)):
        new = edited(graph, base=Base(plain_ends(graph.base.takes), gives))
        yield None if new is None else swept(graph, new)
