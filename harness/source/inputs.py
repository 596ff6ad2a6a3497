"""The expression of an input."""

from __future__ import annotations

from msgspec import structs

from clonediff.harness.source.dialect import Dialect, InputWords
from clonediff.harness.source.words import dtype_literal, literal, tuple_literal
from clonediff.strategies.graph import Graph, Input, Layer, MalformedGraph, Seq


def write_input(given: Input, words: InputWords, dialect: Dialect) -> str:
    """An input as a dialect has it, in the words for where it stands."""
    further = ["optional=True"] if given.optional else []
    further += ["sparse=True"] if given.sparse else []
    further += ["ragged=True"] if given.ragged else []
    further += [f"name={literal(given.name)}"] if given.name is not None else []
    dtype = [f"dtype={dtype_literal(given.dtype)}"] if given.dtype != "float32" else []
    if given.around is not None:
        if "inputs around tensors" in dialect.lacks:
            raise MalformedGraph(f"inputs: one around a tensor cannot be written for {dialect.name}")
        if dialect.symbolic:
            parts = [tuple_literal((given.batch, *given.shape)), *dtype, f"name={literal(given.around)}"]
            tensor = f"{dialect.symbolic}({', '.join(parts)})"
        else:
            tensor = write_input(structs.replace(given, around=None, name=given.around), dialect.input, dialect)
        return f"keras.Input({', '.join((f'tensor={tensor}', *further))})"
    if given.batch is not None and words.whole:
        parts = [f"{words.whole}={tuple_literal((given.batch, *given.shape))}"]
    else:
        parts = [f"{words.shape}={tuple_literal(given.shape)}"]
        parts += [f"batch_size={given.batch}"] if given.batch is not None else []
    return f"{words.function}({', '.join((*parts, *dtype, *further))})"


def write_building(graph: Graph, batch: int | None = None) -> str:
    """The call by which a Sequential that has no input of its own gets one."""
    given = graph.inputs[0]
    return f".build({tuple_literal((given.batch or batch, *given.shape))})"


def with_shape(first: Layer, graph: Graph) -> Layer:
    """The first layer of a Sequential, as the one that tells its shape."""
    shape = Seq(graph.inputs[0].shape, form="tuple")
    return structs.replace(first, args=(*first.args, ("input_shape", shape)))
