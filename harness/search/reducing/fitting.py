"""What follows from an edit: a graph whose parts suit each other again, or none where they cannot.

Owns what is derived from the tensors a layer is called on: how many outputs a call has, the inputs of an inner model,
arguments that a kind arranges, the list around tensors. An edit then need not know what comes after it: a dimension is
changed at its source only.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from msgspec import structs

from clonediff.harness.search.reducing.drawn import arranged, choices
from clonediff.strategies.asking import fed, keras, large, question, spec_of
from clonediff.strategies.graph import Call, Graph, Layer, MalformedGraph, Ref, Seq, fed_refs
from clonediff.strategies.kinds import CATALOGUE, Kind, Specs
from clonediff.strategies.pruning import moved, moved_call


def fitted(graph: Graph) -> Graph:
    """The graph with all that follows from its tensors made to follow. Raises `MalformedGraph` where nothing fits."""
    return _fitted(graph)[0]


def _fitted(graph: Graph) -> tuple[Graph, list[Specs]]:
    given: list[Specs] = [(spec_of(each),) for each in graph.inputs]
    layers, calls = list(graph.layers), list[Call]()

    def there(ref: Ref) -> Ref:
        """The tensor, or the node's last one where it now has fewer."""
        return Ref(ref.node, min(ref.output, len(given[ref.node]) - 1))

    for call in graph.calls:
        call = moved_call(call, there)
        specs = fed(call, given)
        layer = layers[call.layer]
        first = all(each.layer != call.layer for each in calls)
        kind = CATALOGUE.get(layer.kind)
        if layer.graph is not None and first:
            inner, _ = _fitted(_fed(layer.graph, specs))
            layers[call.layer] = structs.replace(layer, graph=inner)
        offers = [(layers[call.layer], call)]
        if kind is not None and layer.graph is None:
            addressed = _addressed(call, kind)
            offers.append((layer, addressed))
            if first and kind.arrange is not None:
                with contextlib.suppress(MalformedGraph):
                    offers.append((arranged(layer, kind, specs, choices(layer, kind, specs)), addressed))
            if first:
                offers += [(each, addressed) for each in _of_another_shape(layer, kind)]
        earlier = tuple(each for each in calls if each.layer == call.layer)
        for each, made in offers:
            gives = keras().gives(question(each, (*earlier, made), lambda ref: given[ref.node][ref.output]))
            if gives is not None:
                break
        else:
            raise MalformedGraph(f"{layer.kind}: Keras does not take it for {specs}")
        layers[call.layer] = each
        calls.append(structs.replace(made, outputs=len(gives)))
        given.append(large(gives))
    new = structs.replace(graph, layers=tuple(layers), calls=tuple(calls), gives=moved(graph.gives, there))
    return new, given


def _fed(graph: Graph, specs: Specs) -> Graph:
    """An inner model whose inputs are those for the tensors that it is called on."""
    if len(specs) != len(graph.inputs):
        raise MalformedGraph(f"expected {len(graph.inputs)} tensors for as many inputs, found {len(specs)}")
    inputs = (
        structs.replace(each, shape=spec.shape, dtype=spec.dtype)
        for each, spec in zip(graph.inputs, specs, strict=True)
    )
    return structs.replace(graph, inputs=tuple(inputs))


def _addressed(call: Call, kind: Kind) -> Call:
    """The tensors in a list or not, as the kind takes them, and only arguments that it knows."""
    tensors = tuple(fed_refs(call))
    held = [item for value in call.args for item in (value.items if isinstance(value, Seq) else (value,))]
    plainly = kind.pass_as != "any" and all(isinstance(item, Ref) for item in held)
    args = call.args if plainly and call.listed == kind.listed(len(tensors)) else kind.packed(tensors)
    known = (*kind.calls, *kind.call_options)
    return structs.replace(call, args=args, kwargs=tuple(pair for pair in call.kwargs if pair[0] in known))


def _of_another_shape(layer: Layer, kind: Kind) -> Iterator[Layer]:
    """The layer with other values for an argument that is a shape, or an order of dimensions."""
    for place, (key, value) in enumerate(layer.args):
        if isinstance(value, Seq) and all(isinstance(item, int) for item in value.items):
            for other in kind.options.get(key, ()):
                if other != value and isinstance(other, Seq):
                    args = (*layer.args[:place], (key, other), *layer.args[place + 1 :])
                    yield structs.replace(layer, args=args)
