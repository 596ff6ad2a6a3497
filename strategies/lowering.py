"""From a register program to a graph: a total function.

Owns what a program means as a whole: what is a chain, cut out, of a custom class, prepared, cloned with arguments.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import structs

from clonediff.strategies.asking import infer, keras, spec_of
from clonediff.strategies.building import Builder
from clonediff.strategies.chains import begun, plainly_built
from clonediff.strategies.custom_models import has_custom_class, makes_parts, of_custom_class
from clonediff.strategies.cutting import cut_out, later_inputs
from clonediff.strategies.drawn_clone_arguments import cloned
from clonediff.strategies.drawn_preparations import preparations_of
from clonediff.strategies.graph import Graph, Input, Layer, Made, MalformedGraph, Ref, Seq, refs
from clonediff.strategies.no_oracle import unsaid_beside
from clonediff.strategies.programs import REGISTERS, Apply, Domain, Nest, Program
from clonediff.strategies.pruning import pruned, reached


def lower(program: Program, domain: Domain) -> Graph:
    """The graph that a program means, to the Keras at hand. Equal programs give equal graphs."""
    graph = (_chain(program, domain) if program.sequential else None) or _functional(program, domain)
    graph = structs.replace(graph, name="my_model" if program.named else None, generation=domain.generation)
    if program.sequential and graph.sequential and "late building" in domain.features:
        graph = begun(graph, program.ends, "shapes of models" in domain.features)
    graph = _cut_out(plainly_built(graph), program.cut, domain) if program.cut else graph
    strays = program.strays and "idle inputs" in domain.features and not unsaid_beside(graph)
    graph = graph if graph.sequential or strays else pruned(graph)
    if graph.built == "not yet":
        return graph
    try:
        return _prepared(graph, program, domain)
    except MalformedGraph:
        return graph  # Keras refuses what is left of it, and says so of the model


def _prepared(graph: Graph, program: Program, domain: Domain) -> Graph:
    """The graph of a custom class, with arguments to clone it with, prepared, or with an input that is repeated."""
    if program.custom_class is not None and not program.cut:
        specs = infer(graph)
        gives = tuple(specs[ref.node][ref.output] for ref in refs(graph.gives))
        graph = of_custom_class(graph, program.custom_class, gives, domain.generation, parts=not makes_parts(graph))
    if program.clone_arguments and not has_custom_class(graph):
        graph = cloned(graph, program.clone_arguments, domain.features, domain.kinds)
    if program.preparations:
        done = preparations_of(graph, program.preparations, domain.features, objects=domain.objects)
        return structs.replace(graph, preparations=done)
    plain = graph.clone_arguments is None and not graph.sequential and graph.base is None
    special = any(given.sparse or given.ragged for given in graph.inputs)
    return _repeating(graph) if program.repeats and plain and not special else graph


def _cut_out(graph: Graph, digits: tuple[int, ...], domain: Domain) -> Graph:
    """A model cut out of the graph's: the first one of those that the digits mean that is one."""
    for cut in cut_out(graph, infer(graph), digits, later="later inputs" in domain.features):
        alone = "shared layers after later inputs" in domain.features or not (later_inputs(cut) and _shares(cut))
        if alone and not unsaid_beside(cut) and not keras().refuses(cut):
            return cut
    return graph


def _shares(cut: Graph) -> bool:
    """Whether a layer is called twice in what was cut out."""
    uses = [cut.calls[node - len(cut.inputs)].layer for node in reached(cut)[0]]
    return len(set(uses)) < len(uses)


def _repeating(graph: Graph) -> Graph:
    """The model with its first input taken once more, at the end; in a dict there is no second name for it."""
    match graph.takes:
        case Ref():
            return structs.replace(graph, takes=Seq((graph.takes, graph.takes)))
        case Seq(items=items, form=form):
            return structs.replace(graph, takes=Seq((*items, next(refs(graph.takes))), form))
    return graph


def _chain(program: Program, domain: Domain) -> Graph | None:
    """A Sequential of the instructions that make one; None where none does."""
    first = program.inputs[:1]
    builder = Builder(first, (spec_of(first[0]),), domain)
    models_first = {"late building", "shapes of models"} <= domain.features and program.ends == 0
    for instruction in sorted(program.body, key=lambda each: models_first and not isinstance(each, Nest)):
        builder.chain(instruction)
    if not builder.calls or first[0].optional or first[0].sparse or first[0].ragged:
        return None
    graph = builder.graph((Ref(len(builder.specs) - 1),), frozen=program.frozen)
    return structs.replace(graph, sequential=True)


def _functional(program: Program, domain: Domain) -> Graph:
    specs = tuple(spec_of(given) for given in program.inputs)
    builder = Builder(program.inputs, specs, domain, domain.max_inputs - len(program.inputs))
    gives_inputs = {"idle inputs", "inputs given back"} <= domain.features
    models = any(isinstance(each, Nest) for each in program.body)
    for place, instructions in _first(program.inputs[:REGISTERS], program.ragged, models):
        builder.begin(place, instructions)
        builder.newest = 0 if program.inputs[place].sparse else builder.newest
    for instruction in program.body:
        builder.run(instruction)
    if not builder.calls and not gives_inputs:
        builder.run(_SIMPLEST if "operator.half" in builder.kinds else _SIMPLEST_LAYER)
    outputs = tuple(builder.usual(builder.named(register)) for register in program.outputs)
    if not gives_inputs:
        outputs = tuple(builder.made(ref) for ref in outputs)
    outputs += builder.ends(outputs)[: program.ends]
    return builder.graph(outputs, program.takes, program.gives, frozen=program.frozen)


_SIMPLEST = Apply("operator.half")
"""What the first input is used for where it must be used and nothing else was drawn; it is a float of any rank."""
_SIMPLEST_LAYER = Apply("Activation", options=(("activation", "relu"),))


def _first(inputs: tuple[Input, ...], number: int, models: bool) -> Iterator[tuple[int, tuple[Apply | Nest, ...]]]:
    """What sparse and ragged inputs are given to first: most layers take neither, and all take what comes of it.

    Of each of the lists the first instruction that can be is done. Ids are embedded before. A ragged input goes into a
    model of its own only where there are `models` anyway: without, it would be the shortest way to one, and examples
    would shrink to it.
    """
    for place, given in enumerate(inputs):
        if given.sparse:
            yield place, (_ON_SPARSE,)
    for place, given in enumerate(inputs):
        if given.ragged:
            if given.dtype == "int32":
                yield place, (_ON_RAGGED_IDS,)
            calls = _ON_RAGGED[number % len(_ON_RAGGED)], _ON_RAGGED[0]
            inside = tuple(Nest((each,), sequential=number >= _IN_A_SEQUENTIAL) for each in calls)
            yield place, (*inside, *calls) if models and number >= _IN_A_MODEL else calls


_ON_SPARSE = Apply("Dense", options=(("units", 4),))
_ON_RAGGED_IDS = Apply("Embedding", options=(("input_dim", 6), ("output_dim", 4)))
FIRST_ON_RAGGED = frozenset(("Embedding", "GlobalAveragePooling1D"))
"""Kinds without which no ragged inputs are drawn."""
_ON_RAGGED = (
    Apply("GlobalAveragePooling1D"),
    Apply("Concatenate", sources=(0, 0)),
    Apply("LayerNormalization"),
    Apply("LSTM", options=(("units", 3),)),
    Apply("GRU", options=(("units", 3), ("return_sequences", True))),
    Apply("TimeDistributed", options=(("layer", Made(Layer("Dense", (("units", 3),)))),)),
)
"""The simplest first; the first one is for where a generation does not take such tensors in another."""
WAYS_ON_RAGGED = 60
"""As many numbers stand for a call on a ragged input."""
_IN_A_MODEL, _IN_A_SEQUENTIAL = 36, 48
"""The numbers from which on the call is made in a model of its own, and in a Sequential: one of five each."""
