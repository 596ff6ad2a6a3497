"""The expression of an input."""

from __future__ import annotations

from msgspec import structs

from clonediff.harness.source.dialect import Dialect
from clonediff.harness.source.words import dtype_literal, literal, tuple_literal
from clonediff.strategies.graph import Graph, Input, Layer, Seq


def write_input(given: Input, dialect: Dialect, *, as_layer: bool = False) -> str:
    """An input as a dialect has it: a tensor, or the layer that gives it."""
    further = ["optional=True"] if given.optional else []
    further += ["sparse=True"] if given.sparse else []
    further += ["ragged=True"] if given.ragged else []
    further += [f"name={literal(given.name)}"] if given.name is not None else []
    dtype = [f"dtype={dtype_literal(given.dtype)}"] if given.dtype != "float32" else []
    if given.around is not None:
        if dialect.symbolic:
            parts = [tuple_literal((given.batch, *given.shape)), *dtype, f"name={literal(given.around)}"]
            tensor = f"{dialect.symbolic}({', '.join(parts)})"
        else:
            tensor = write_input(structs.replace(given, around=None, name=given.around), dialect)
        return f"keras.Input({', '.join((f'tensor={tensor}', *further))})"
    function, shape = ("layers.InputLayer", dialect.layer_shape) if as_layer else ("keras.Input", "shape")
    parts = [f"{shape}={tuple_literal(given.shape)}"]
    parts += [f"batch_size={given.batch}"] if given.batch is not None else []
    return f"{function}({', '.join((*parts, *dtype, *further))})"


def write_building(graph: Graph, batch: int | None = None) -> str:
    """The call by which a Sequential that has no input of its own gets one."""
    given = graph.inputs[0]
    return f".build({tuple_literal((given.batch or batch, *given.shape))})"


def with_shape(first: Layer, graph: Graph) -> Layer:
    """The first layer of a Sequential, as the one that tells its shape."""
    shape = Seq(graph.inputs[0].shape, form="tuple")
    return structs.replace(first, args=(*first.args, ("input_shape", shape)))
