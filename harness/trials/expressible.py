"""Whether something can be tried on a subject at all: its version, the words of its Keras, what its cloners need."""

from __future__ import annotations

import contextlib
import shlex

from packaging.version import InvalidVersion, Version

from clonediff.harness.inside.cloners.users import users_cloner
from clonediff.harness.source import DIALECTS
from clonediff.harness.source.other_layers import is_allowed
from clonediff.harness.subjects.case import takes_arguments
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.subjects.subject import Subject
from clonediff.harness.trials.cases import case_of
from clonediff.strategies.asking import NoKeras
from clonediff.strategies.clone_arguments import abilities_for
from clonediff.strategies.graph import Graph, MalformedGraph, all_layers
from clonediff.strategies.kinds import CATALOGUE
from clonediff.strategies.kinds.operations import is_operation
from clonediff.strategies.preparations import PREPARATIONS


def another_came_up(process: SubjectProcess) -> str:
    """What is to be said where another version runs than the one that was asked for; "" where it is that one."""
    wanted, ready = process.subject.version, process.ready
    try:
        same = wanted is None or Version(ready.keras) == Version(wanted)
    except InvalidVersion:
        same = False
    return "" if same else f"{process.subject} was asked for, and {process.subject.package} {ready.keras} came up"


def unsupported_cloner(cloner: str, process: SubjectProcess, graph: Graph | None = None) -> str:
    """Why a cloner can make nothing of a subject's models, or of a graph's; "" where it can.

    Starts the process if need be.
    """
    subject = process.subject
    users = users_cloner(cloner)
    if users is not None:
        if not is_allowed(users.name):
            return f"{users.name}: a cloner of somebody's own is code: name it with --cloner {shlex.quote(users.name)}"
        problem = process.cloner_problem(cloner)
        if problem:
            return problem
    given = None if graph is None else graph.clone_arguments
    if given is not None and not takes_arguments(cloner):
        return f"{cloner}: takes a model and nothing else, and this graph is cloned with more arguments"
    for name in abilities_for(given) if given is not None else ():
        if name in process.ready.capabilities.missing:
            return f"{subject}: its clone_model knows no {name}"
    for preparation in graph.preparations if graph is not None else ():
        if preparation.does in process.ready.capabilities.missing:
            return f"{subject}: it knows no {preparation.does}, which is done to the model"
    return ""


def missing_layer(graph: Graph, process: SubjectProcess) -> str:
    """Which layer of a graph a release does not have; "" where it has all of them. Starts the process if need be."""
    own = DIALECTS[process.subject.generation].classes
    kinds = (layer.kind for layer in all_layers(graph) if layer.graph is None and layer.kind in CATALOGUE)
    missing = next((kind for kind in kinds if kind not in own and kind not in process.ready.capabilities.layers), "")
    return missing and f"{missing} is not in this Keras"


def unsupported_graph(graph: Graph, subject: Subject) -> str | None:
    """What a graph has that the dialect of a release has no word for; None where it can be written."""
    dialect = DIALECTS[subject.generation]
    for layer in all_layers(graph):
        if layer.graph is None and is_operation(layer.kind) and not dialect.has(layer.kind):
            return f"{layer.kind} cannot be written for this Keras"
    for preparation in graph.preparations:
        if preparation.does not in PREPARATIONS:
            return f"{preparation.does}: expected one of {', '.join(PREPARATIONS)}"
    try:
        with contextlib.suppress(NoKeras):  # which says what only it knows once the graph is tried
            case_of(graph, subject.generation)
    except (MalformedGraph, KeyError) as error:
        return f"the graph cannot be written for this Keras: {error}"
    except NoKeras:  # it is known once one runs
        return None
    return None
