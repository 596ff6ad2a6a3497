"""From a graph to Python: the script that builds its model, how that is cloned, and the model that is asked for.

Owns what of these comes before what; and the text of a question to a Keras.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from msgspec import structs

from clonediff.harness.source.clone_arguments import (
    AROUND,
    CALL_FUNCTION,
    CLONE_FUNCTION,
    CLONE_MODEL,
    MODEL,
    write_call_function,
    write_clone_function,
    wrong_argument,
)
from clonediff.harness.source.dialect import Dialect
from clonediff.harness.source.inputs import write_building
from clonediff.harness.source.preparations import built_within, cloned_in, done_to
from clonediff.harness.source.script_lines import ScriptLines
from clonediff.strategies.asking import Question
from clonediff.strategies.clone_arguments import inner_layer, inputs_of, makes_none
from clonediff.strategies.graph import CloneArguments, Graph, Items, Ref, Wrong, refs


@dataclass(frozen=True, slots=True)
class WrittenGraph:
    """The script that leaves a graph's model in `model`, and what says how it is cloned.

    `arguments` has the expressions that `clone_model` is given, by their names. `asked` is the rest of a script that
    leaves the model that is then asked for in `model`, in the place of the one that is cloned. `builds` is the call by
    which a model that was cloned before it was built is built. `within` has the expressions of the scopes in which it
    is cloned. `index` is that of `ScriptLines`.
    """

    source: str
    arguments: tuple[tuple[str, str], ...] = ()
    asked: str = ""
    builds: str = ""
    within: tuple[str, ...] = ()
    index: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


def write(graph: Graph, dialect: Dialect) -> WrittenGraph:
    """The graph's model as a script, with the arguments of its clone."""
    if graph.clone_arguments is not None:
        return _write_with_clone_arguments(graph, graph.clone_arguments, dialect)
    script = ScriptLines(dialect)
    done = [(preparation, target.place) for preparation, target in done_to(graph) if target is not None]
    script.kept = {place for _, place in done}
    script.learning = {place for preparation, place in done if preparation.does == "adapt"}
    script.stateful = {place for preparation, place in done if preparation.does == "stateful"}
    script.batch = graph.batch if script.stateful else None
    for preparation, place in done:
        if preparation.does == "objects":
            script.found_in_scope(preparation, place)
    script.model(graph, "model", "")
    within: list[str] = []
    for preparation in graph.preparations:
        script.lines = built_within(preparation, script.lines, script.plain, dialect.spell, script.custom_scope)
        script.need(script.lines[0])
        within += cloned_in(preparation, script.plain, script.custom_scope)
    script.preparations(graph)
    if graph.built != "not yet":
        return WrittenGraph(script.text(), within=tuple(within), index=script.index)
    asked = ScriptLines(dialect, script)
    asked.model(structs.replace(graph, built="later"), "model", "")
    index = script.index | asked.index
    return WrittenGraph(script.text(), (), asked.rest(), write_building(graph), tuple(within), index)


def _write_with_clone_arguments(graph: Graph, clone_arguments: CloneArguments, dialect: Dialect) -> WrittenGraph:
    """The graph's model, and where there is to be a clone, the model that is asked for."""
    script = ScriptLines(dialect)
    if clone_arguments.wrong:
        arguments = _wrong(script, graph, clone_arguments.wrong)
        script.model(graph, "model", "")
        return WrittenGraph(script.text(), arguments, index=script.index)
    functions = tuple(_functions(script, clone_arguments))
    asked_for = structs.replace(graph, inputs=inputs_of(graph), clone_arguments=None)
    inner = inner_layer(graph) if clone_arguments.inputs == "inner" else None
    script.kept = {(inner,)} if inner is not None else set()
    if makes_none(clone_arguments):
        script.model(graph, "model", "")
        arguments = (*_inputs(script, asked_for, clone_arguments), *functions)
        return WrittenGraph(script.text(), arguments, index=script.index)
    script.holds = clone_arguments.clone_function is not None
    script.kept |= {target.place for _, target in done_to(graph) if target is not None}
    script.model(graph, "model", "")
    script.preparations(graph)
    asked = ScriptLines(dialect, script)
    asked.kept = script.kept
    asked.model(asked_for, "model", "", clone_arguments)
    still = tuple(each for each in graph.preparations if each.does != "run")
    asked.preparations(structs.replace(graph, preparations=still))
    script.needs |= asked.needs
    arguments = (*_inputs(script, asked_for, clone_arguments), *functions)
    return WrittenGraph(script.text(), arguments, asked.rest(), index=script.index | asked.index)


def _functions(script: ScriptLines, clone_arguments: CloneArguments) -> Iterator[tuple[str, str]]:
    """What `clone_model` is given beside inputs, by name; the functions are defined."""
    if clone_arguments.clone_function is not None:
        script.define(write_clone_function(clone_arguments.clone_function, script.class_of, script.plain))
        script.needs.update((CLONE_MODEL,) if clone_arguments.clone_function.recurses else ())
        yield CLONE_FUNCTION, CLONE_FUNCTION
    if clone_arguments.call_function is not None:
        script.define(write_call_function(clone_arguments.call_function, script.class_of))
        yield CALL_FUNCTION, CALL_FUNCTION
    if clone_arguments.recursive:
        yield "recursive", "True"


def _inputs(script: ScriptLines, graph: Graph, clone_arguments: CloneArguments) -> Iterator[tuple[str, str]]:
    """The inputs that `clone_model` is given, where the model with this graph is asked for."""
    if clone_arguments.inputs == "own":
        yield "input_tensors", "model.inputs" if graph.sequential else "model.input"
    elif clone_arguments.inputs:
        words = [script.given(graph, node, clone_arguments) for node in range(len(graph.inputs))]
        takes = graph.takes
        if clone_arguments.inputs == "turned" and isinstance(takes, Items):
            takes = Items(takes.items[::-1])
        places = [ref.node for ref in refs(takes)]
        once = {f"given_{node}": words[node] for node in sorted(set(places)) if places.count(node) > 1}
        words = [f"given_{node}" if places.count(node) > 1 else word for node, word in enumerate(words)]
        nested = script.value(takes, lambda ref: words[ref.node])
        flat = f"[{', '.join(words[ref.node] for ref in refs(graph.takes))}]"
        text = nested if script.dialect.nests else flat
        if once:  # one tensor stands in all places of an input, and is another for each clone
            text = f"(lambda {', '.join(once)}: {text})({', '.join(once.values())})"
        yield "input_tensors", f"[{text}]" if clone_arguments.inputs == "listed" else text


def _wrong(script: ScriptLines, graph: Graph, wrong: Wrong) -> tuple[tuple[str, str], ...]:
    """Arguments of which one is plainly wrong, with their names."""
    if wrong == "subclass":
        script.define(AROUND)
        return (MODEL, "Around(model)"), (CLONE_FUNCTION, "lambda layer: layer")
    words = [script.input(each) for each in graph.inputs]
    tensor = script.need(script.dialect.spell("ops.convert_to_tensor(np.ones((2, 3)))"))
    script.needs.update(("np",) if wrong == "numbers" else ())
    return (wrong_argument(wrong, words, tensor),)


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
