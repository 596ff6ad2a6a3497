"""From a graph to Python: the script that builds its model, how that is cloned, and the model that is asked for.

Owns what of these comes before what; and the text of a question to a Keras.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from msgspec import structs

from clonediff.harness.source.clone_arguments import CALL_FUNCTION, CALLS_PLAINLY
from clonediff.harness.source.dialect import Dialect
from clonediff.harness.source.preparations import built_within, cloned_in, done_to
from clonediff.harness.source.script_lines import ScriptLines
from clonediff.strategies.asking import Question
from clonediff.strategies.clone_arguments import inputs_of
from clonediff.strategies.graph import CloneArguments, Graph, Ref, refs


@dataclass(frozen=True, slots=True)
class WrittenGraph:
    """The script that leaves a graph's model in `model`, and what says how it is cloned.

    `arguments` has the expressions that `clone_model` is given, by their names. `asked` is the rest of a script that
    leaves the model that is then asked for in `model`, in the place of the one that is cloned. `within` has
    the expressions of the scopes in which it is cloned.
    """

    source: str
    arguments: tuple[tuple[str, str], ...] = ()
    asked: str = ""
    within: tuple[str, ...] = ()


def write(graph: Graph, dialect: Dialect, *, called: bool = False) -> WrittenGraph:
    """The graph's model as a script, with the arguments of its clone; one that is `called` is called at the end."""
    script = ScriptLines(dialect)
    done = [(preparation, target.place) for preparation, target in done_to(graph) if target is not None]
    script.kept = {place for _, place in done}
    script.learning = {place for preparation, place in done if preparation.does == "adapt"}
    for preparation, place in done:
        if preparation.does == "objects":
            script.found_in_scope(preparation, place)
    script.model(graph, "model", "")
    script.change_later()
    within: list[str] = []
    for preparation in graph.preparations:
        script.lines = built_within(preparation, script.lines, script.custom_scope)
        within += cloned_in(preparation, script.custom_scope)
    script.preparations(graph)
    if called:
        script.call(graph)
    if graph.clone_arguments is None:
        return WrittenGraph(script.text(), within=tuple(within))
    other = ScriptLines(dialect)
    other.model(structs.replace(graph, inputs=inputs_of(graph)), "model", "")
    arguments = tuple(_arguments(script, graph, graph.clone_arguments))
    return WrittenGraph(script.text(), arguments, other.rest(script))


def _arguments(script: ScriptLines, graph: Graph, arguments: CloneArguments) -> Iterator[tuple[str, str]]:
    """What `clone_model` is given beside the model, by name; a function is defined."""
    if arguments.call_function:
        script.define(CALLS_PLAINLY)
        yield CALL_FUNCTION, CALL_FUNCTION
    if arguments.recursive:
        yield "recursive", "True"
    if arguments.inputs == "own":
        yield "input_tensors", "model.inputs" if graph.sequential else "model.input"
    elif arguments.inputs:
        words = [script.input(each, as_layer=arguments.inputs == "layers") for each in inputs_of(graph)]
        nested = script.value(graph.takes, lambda ref: words[ref.node])
        flat = f"[{', '.join(words[ref.node] for ref in refs(graph.takes))}]"
        text = nested if script.dialect.nests else flat
        yield "input_tensors", f"[{text}]" if arguments.inputs == "listed" else text


def write_question(question: Question, dialect: Dialect) -> str:
    """The text that makes the layer, and leaves a function in `calls` for each call, of a list of the tensors."""
    script = ScriptLines(dialect)
    script.asks = True
    made = {0: script.made(question.layer)}

    def word(ref: Ref) -> str:
        return f"tensors[{ref.node}]"

    calls = [script.called(question.layer, call, word, made, True) for call in question.calls]
    script.lines.append(f"calls = [{', '.join(f'lambda tensors: {call}' for call in calls)}]")
    return script.text()
