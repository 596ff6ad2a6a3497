"""From a register program to a graph: a total function.

Owns what a program means as a whole: what is a chain, cut out, of a class of one's own, cloned in a way, in a state.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from msgspec import structs

from clonediff.strategies.asking import keras
from clonediff.strategies.building import Builder
from clonediff.strategies.chains import begun, plainly_built
from clonediff.strategies.cutting import cut_out, later_inputs
from clonediff.strategies.drawn_states import steps
from clonediff.strategies.drawn_ways import cloned
from clonediff.strategies.graph import Graph, Ref, refs
from clonediff.strategies.inputs import repeating
from clonediff.strategies.kinds import Kind
from clonediff.strategies.no_oracle import unsaid_losses
from clonediff.strategies.own_models import makes_parts, owned, owns
from clonediff.strategies.programs import Apply, Nest, Program
from clonediff.strategies.pruning import pruned, reached
from clonediff.strategies.typing import infer, spec_of


def lower(program: Program, kinds: Mapping[str, Kind]) -> Graph:
    """The graph that a program means, to the Keras at hand. Equal programs give equal graphs."""
    graph = (_chain(program, kinds) if program.sequential else None) or _functional(program, kinds)
    graph = _cut_out(plainly_built(graph), program) if program.cut else graph
    strays = program.strays and program.idle_inputs and not unsaid_losses(graph)
    graph = graph if graph.sequential or strays else pruned(graph)
    if graph.built == "not yet":
        return graph
    if program.own is not None and not program.cut:
        specs = infer(graph)
        gives = tuple(specs[ref.node][ref.output] for ref in refs(graph.gives))
        graph = owned(graph, program.own, gives, program.generation, parts=not makes_parts(graph))
    graph = cloned(graph, program.way, program.ways, kinds) if program.way and not owns(graph) else graph
    if program.repeats and graph.way is None and not program.state and not graph.sequential and graph.base is None:
        special = any(given.sparse or given.ragged for given in graph.inputs)
        return graph if special else repeating(graph)
    if not program.state:
        return graph
    return structs.replace(graph, state=steps(graph, program.state, program.steps, program.state_rate))


def _cut_out(graph: Graph, program: Program) -> Graph:
    """A model cut out of the graph's: the first one of those that its digits mean that is one."""
    for cut in cut_out(graph, infer(graph), program.cut, later=program.later_inputs):
        alone = program.later_shared or not (later_inputs(cut) and _shares(cut))
        if alone and not unsaid_losses(cut) and not keras().refuses(cut):
            return cut
    return graph


def _shares(cut: Graph) -> bool:
    """Whether a layer is called twice in what was cut out."""
    uses = [cut.calls[node - len(cut.inputs)].layer for node in reached(cut)[0]]
    return len(set(uses)) < len(uses)


def _chain(program: Program, kinds: Mapping[str, Kind]) -> Graph | None:
    """A Sequential of the instructions that make one; None where none does."""
    first = program.inputs[:1]
    builder = Builder(
        first,
        (spec_of(first[0]),),
        kinds,
        shaped=program.shaped,
        generation=program.generation,
    )
    begins_with_models = program.late and program.shaped and program.ends == 0
    for instruction in sorted(program.body, key=lambda each: begins_with_models and not isinstance(each, Nest)):
        builder.chain(instruction)
    if not builder.calls or first[0].optional or first[0].sparse or first[0].ragged:
        return None
    graph = builder.graph((Ref(len(builder.specs) - 1),), replace(program, takes="plain", gives="plain"))
    graph = structs.replace(graph, sequential=True)
    return begun(graph, program.ends, program.shaped) if program.late else graph


def _functional(program: Program, kinds: Mapping[str, Kind]) -> Graph:
    builder = Builder(
        program.inputs,
        tuple(spec_of(given) for given in program.inputs),
        kinds,
        idle_inputs=program.idle_inputs,
        shaped=program.shaped,
        generation=program.generation,
        more_inputs=program.more_inputs,
        most_inputs=program.most_inputs,
    )
    gives_inputs = program.idle_inputs and program.gives_inputs
    builder.use_sparse()
    builder.use_ragged(program.ragged, any(isinstance(each, Nest) for each in program.body))
    for instruction in program.body:
        builder.run(instruction)
    if not builder.calls and not gives_inputs:
        builder.run(_SIMPLEST if "operator.half" in builder.kinds else _SIMPLEST_LAYER)
    outputs = tuple(builder.usual(builder.named(register)) for register in program.outputs)
    if not gives_inputs:
        outputs = tuple(builder.made(ref) for ref in outputs)
    outputs += builder.ends(outputs)[: program.ends]
    return builder.graph(outputs, program)


_SIMPLEST = Apply("operator.half")
"""What the first input is used for where it must be used and nothing else was drawn; it is a float of any rank."""
_SIMPLEST_LAYER = Apply("Activation", options=(("activation", "relu"),))
