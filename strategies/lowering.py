"""From a register program to a graph: a total function.

Owns what a program means as a whole: what is a chain, of a custom class, prepared, cloned with arguments.
"""

from __future__ import annotations

from msgspec import structs

from clonediff.strategies.asking import spec_of
from clonediff.strategies.building import Builder
from clonediff.strategies.clone_arguments import with_clone_arguments
from clonediff.strategies.custom_models import has_custom_class, of_custom_class
from clonediff.strategies.drawn_preparations import preparations_of
from clonediff.strategies.graph import Graph, MalformedGraph, Ref
from clonediff.strategies.programs import Apply, Domain, Program
from clonediff.strategies.pruning import pruned


def lower(program: Program, domain: Domain) -> Graph:
    """The graph that a program means, to the Keras at hand. Equal programs give equal graphs."""
    graph = (_chain(program, domain) if program.sequential else None) or _functional(program, domain)
    graph = structs.replace(graph, name="my_model" if program.named else None, generation=domain.generation)
    strays = program.strays and "idle inputs" not in domain.missing
    graph = graph if graph.sequential or strays else pruned(graph)
    try:
        return _prepared(graph, program, domain)
    except MalformedGraph:
        return graph  # Keras refuses what is left of it, and says so of the model


def _prepared(graph: Graph, program: Program, domain: Domain) -> Graph:
    """The graph of a custom class, with arguments to clone it with, or prepared."""
    if program.custom_class is not None:
        graph = of_custom_class(graph, program.custom_class, domain.generation)
    if program.clone_arguments is not None and not has_custom_class(graph):
        return with_clone_arguments(graph, program.clone_arguments, domain.missing)
    if program.preparations:
        done = preparations_of(graph, program.preparations, domain.missing, objects=domain.objects)
        return structs.replace(graph, preparations=done)
    return graph


def _chain(program: Program, domain: Domain) -> Graph | None:
    """A Sequential of the instructions that make one; None where none does."""
    first = program.inputs[:1]
    builder = Builder(first, (spec_of(first[0]),), domain)
    for instruction in program.body:
        builder.chain(instruction)
    if not builder.calls or first[0].optional:
        return None
    graph = builder.graph((Ref(len(builder.specs) - 1),), frozen=program.frozen)
    return structs.replace(graph, sequential=True)


def _functional(program: Program, domain: Domain) -> Graph:
    specs = tuple(spec_of(given) for given in program.inputs)
    builder = Builder(program.inputs, specs, domain, domain.max_inputs - len(program.inputs))
    for instruction in program.body:
        builder.run(instruction)
    outputs = tuple(builder.named(register) for register in program.outputs)
    if "idle inputs" in domain.missing:
        if not builder.calls:
            builder.run(_SIMPLEST)
        outputs = tuple(builder.made(ref) for ref in outputs)
    outputs += builder.ends(outputs)[: program.ends]
    return builder.graph(outputs, program.takes, program.gives, frozen=program.frozen)


_SIMPLEST = Apply("Activation", options=(("activation", "relu"),))
"""What the first input is used for where it must be used and nothing else was drawn."""
