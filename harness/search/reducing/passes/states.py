"""Plainer states: without a step, without an argument of one, or with a simpler one."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import structs

from clonediff.harness.search.reducing.passes.connections import drop_output, give_plainly
from clonediff.harness.search.reducing.passes.kinds import plainer_kind
from clonediff.harness.search.reducing.passes.levels import Offers, everywhere
from clonediff.strategies.compiling import by_output, nested_like
from clonediff.strategies.graph import Graph, MalformedGraph, Ref, Step, Value
from clonediff.strategies.kinds import LEFT_OUT
from clonediff.strategies.states import STEPS
from clonediff.strategies.targets import Target, layer_at, targets


def leave_as_made(graph: Graph) -> Offers:
    """The model as it was made, or without one of the steps, or an argument of one."""
    if not graph.state:
        return
    yield structs.replace(graph, state=())
    for number, step in enumerate(graph.state):
        yield structs.replace(graph, state=graph.state[:number] + graph.state[number + 1 :])
        known = STEPS[step.does].args(graph, step.kind) if step.does in STEPS else {}
        for place, (name, _) in enumerate(step.args):
            if LEFT_OUT in known.get(name, (LEFT_OUT,)):
                yield _with(graph, number, step.args[:place] + step.args[place + 1 :])


def say_less_of_steps(graph: Graph) -> Offers:
    """Each argument of a step with each simpler value; each step done to something else."""
    for number, step in enumerate(graph.state):
        sort = STEPS.get(step.does)
        if sort is None:
            continue
        known = sort.args(graph, step.kind)
        for place, (name, value) in enumerate(step.args):
            for simpler in known.get(name, ()):
                if simpler == value and type(simpler) is type(value):
                    break
                if simpler != LEFT_OUT:
                    yield _with(graph, number, (*step.args[:place], (name, simpler), *step.args[place + 1 :]))
        for kind in sort.on(graph):
            yield _replaced(graph, number, structs.replace(step, kind=kind))


def plainer_kind_with_its_step(graph: Graph) -> Offers:
    """A layer that a step is done to becomes one of a plainer kind, and it is done to that."""
    there = targets(graph) if any(step.kind for step in graph.state) else {}
    for offer in everywhere(plainer_kind)(graph) if there else ():
        if offer is None:
            continue
        try:
            state = tuple(_on_what_it_became(step, there, offer) for step in graph.state)
        except (MalformedGraph, LookupError):
            continue
        if state != graph.state:
            yield structs.replace(offer, state=state)


def drop_output_with_its_step(graph: Graph) -> Offers:
    """The model without one of its outputs, or with plainer ones, where a step has a value for each of them."""
    if isinstance(graph.gives, Ref) or not any(
        by_output(graph.gives, value) for step in graph.state for _, value in step.args
    ):
        return
    for offer in (*drop_output(graph), *give_plainly(graph)):
        if offer is not None:
            state = tuple(structs.replace(step, args=tuple(_fewer(step, graph, offer))) for step in graph.state)
            yield structs.replace(offer, state=state)


def _fewer(step: Step, graph: Graph, offer: Graph) -> Iterator[tuple[str, Value]]:
    for name, value in step.args:
        values = by_output(graph.gives, value)
        yield name, value if values is None else nested_like(offer.gives, iter(values), values[-1])


def _on_what_it_became(step: Step, there: dict[str, Target], graph: Graph) -> Step:
    target = None if step.kind is None else there[step.kind]
    if target is None or target.attributes:
        return step
    return structs.replace(step, kind=layer_at(graph, target.place).kind)


def _with(graph: Graph, number: int, args: tuple[tuple[str, Value], ...]) -> Graph:
    return _replaced(graph, number, structs.replace(graph.state[number], args=args))


def _replaced(graph: Graph, number: int, step: Step) -> Graph:
    return structs.replace(graph, state=(*graph.state[:number], step, *graph.state[number + 1 :]))
