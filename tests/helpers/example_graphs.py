"""Graphs from a source text or from the script of a known issue, without drawing."""

from __future__ import annotations

from typing import Any

import msgspec

from clonediff.harness.scripts.known_scripts import case_of_script
from clonediff.reports.known import load
from clonediff.strategies.program import Apply, Generation, Graph, Input, Program

KNOWN = load()


def graph_of_source(source: str, *inputs: Input, generation: Generation = "keras", **fields: Any) -> Graph:
    """Return a graph with this source; its program has only the inputs."""
    program = Program(generation, inputs, (Apply("Dense", (("units", "1"),)),), **fields)
    return Graph(program, source)


def graph_of_layer(layer: str, shape: tuple[int, ...] = (4,), generation: Generation = "keras", **spec: Any) -> Graph:
    """Return the graph of a model with one layer, such as "layers.Dense(2)"."""
    keras = "keras" if generation == "keras" else "tf_keras as keras"
    tensor = Input(shape, **spec)
    dtype = "" if tensor.dtype == "float32" else f', dtype="{tensor.dtype}"'
    head = f"import {keras}\nimport numpy as np\nfrom {generation} import layers\n\n"
    lines = f"inputs = keras.Input(shape={shape}{dtype})\nlayer = {layer}\nmodel = keras.Model(inputs, layer(inputs))\n"
    return graph_of_source(head + lines, tensor, generation=generation)


def graph_of_issue(name: str) -> Graph:
    """Return the graph of the model in a known issue's script."""
    issue = KNOWN.get(name)
    assert issue is not None, name
    case = case_of_script(issue)
    inputs = tuple(msgspec.convert({**spec, "batch": None}, Input) for spec in case.inputs)
    source = case.source[case.source.index("\nimport") + 1 :] if '"""' in case.source else case.source
    clone_arguments, frozen = "listed" if case.arguments else "", "\nmodel.trainable = False" in source
    fields = {"generation": issue.generation, "clone_arguments": clone_arguments, "frozen": frozen}
    graph = graph_of_source(source, *inputs, **fields)
    return msgspec.structs.replace(graph, arguments=case.arguments, scopes=case.scopes)
