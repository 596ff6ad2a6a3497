"""Plainer states: without a step, without an argument of one, or with a simpler one."""

from __future__ import annotations

from msgspec import structs

from harness.search.reducing.passes.levels import Offers
from strategies.graph import Graph, Step, Value
from strategies.kinds import LEFT_OUT
from strategies.states import STEPS


def leave_as_made(graph: Graph) -> Offers:
    """The model as it was made, or without one of the steps, or an argument of one."""
    if not graph.state:
        return
    yield structs.replace(graph, state=())
    for number, step in enumerate(graph.state):
        yield structs.replace(graph, state=graph.state[:number] + graph.state[number + 1 :])
        for place in range(len(step.args)):
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


def _with(graph: Graph, number: int, args: tuple[tuple[str, Value], ...]) -> Graph:
    return _replaced(graph, number, structs.replace(graph.state[number], args=args))


def _replaced(graph: Graph, number: int, step: Step) -> Graph:
    return structs.replace(graph, state=(*graph.state[:number], step, *graph.state[number + 1 :]))
