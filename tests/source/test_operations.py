"""Operations as a person would type them: functions, operators, slices; and nothing that a graph could smuggle in."""

from __future__ import annotations

import pytest

from clonediff.harness.source import write_source
from clonediff.strategies import Graph, MalformedGraph
from clonediff.strategies.graph import Array, Call, Function, Input, Layer, Ref, Seq, Value
from clonediff.strategies.kinds import Generation

TUPLE = Seq((1, 2), "tuple")


def written(layer: Layer, count: int = 1, generation: Generation = "keras", in_list: bool = False) -> str:
    """The line of an operation on that many tensors."""
    refs: tuple[Value, ...] = (Ref(0),) * count
    graph = Graph(
        inputs=(Input((3, 4)),),
        layers=(layer,),
        calls=(Call(0, (Seq(refs),) if in_list else refs),),
        takes=Ref(0),
        gives=Ref(1),
        generation=generation,
    )
    return write_source(graph, generation).splitlines()[-2].partition(" = ")[2]


@pytest.mark.parametrize(
    ("layer", "count", "text"),
    [
        (Layer("ops.maximum"), 2, "ops.maximum(inputs, inputs)"),
        (Layer("ops.maximum", (("x2", 2.0),)), 1, "ops.maximum(inputs, 2.0)"),
        (Layer("ops.sum", (("axis", TUPLE), ("keepdims", True))), 1, "ops.sum(inputs, axis=(1, 2), keepdims=True)"),
        (Layer("ops.reshape", (("newshape", Seq((-1, 12), "tuple")),)), 1, "ops.reshape(inputs, (-1, 12))"),
        (Layer("ops.log"), 1, "ops.log(inputs)"),
        (Layer("ops.cast", (("dtype", "float16"),)), 1, 'ops.cast(inputs, "float16")'),
        (
            Layer("ops.map", (("f", Function("lambda", ("x * 2.0",))),)),
            1,
            "ops.map(lambda x: x * 2.0, inputs)",
        ),
        (
            Layer("ops.take", (("indices", Array((3,), "int32")), ("axis", -1))),
            1,
            'ops.take(inputs, np.arange(3, dtype="int32") % 2, axis=-1)',
        ),
        (Layer("ops.fresh", (("k", 2), ("sure", True))), 2, "ops.fresh(inputs, inputs, 2, sure=True)"),
        (Layer("ops.unique", (("size", 4), ("fill_value", 0.0))), 1, None),
        (Layer("operator.slice", (("key", "[:, 1:]"),)), 1, "inputs[:, 1:]"),
        (Layer("operator.subtract", (("other", 2.0), ("left", True))), 1, "2.0 - inputs"),
        (Layer("operator.divide"), 2, "inputs / inputs"),
    ],
)
def test_an_operation_is_written_as_a_person_would(layer: Layer, count: int, text: str | None) -> None:
    expected = "inputs * ops.mean(ops.unique(inputs, size=4, fill_value=0.0))" if text is None else text
    assert written(layer, count) == expected


def test_a_list_of_tensors_stays_one() -> None:
    layer = Layer("ops.concatenate", (("axis", -1),))
    assert written(layer, 2, in_list=True) == "ops.concatenate([inputs, inputs], axis=-1)"


@pytest.mark.parametrize(
    ("layer", "text"),
    [
        (Layer("tf.math.reduce_sum", (("axis", -1),)), "tf.math.reduce_sum(inputs, axis=-1)"),
        (Layer("operator.slice", (("key", "[..., None]"),)), "inputs[..., None]"),
        (Layer("tf.math.log"), "tf.math.log(inputs)"),
        (
            Layer("tf.linalg.cholesky"),
            "tf.linalg.cholesky(tf.matmul(inputs, inputs, transpose_b=True) + tf.eye(inputs.shape[-2]))",
        ),
    ],
)
def test_tensorflow_has_functions_of_its_own(layer: Layer, text: str) -> None:
    assert written(layer, generation="tf_keras") == text


@pytest.mark.parametrize(
    "layer",
    [
        pytest.param(Layer("operator.slice", (("key", "[__import__('os')]"),)), id="slice"),
        pytest.param(Layer("ops.map", (("f", Function("body", ("os.abort",))),)), id="function"),
        pytest.param(Layer("ops.sum", (("axis", -1), ("a=1, b", 2))), id="argument"),
        pytest.param(Layer("ops.system('x')"), id="kind"),
        pytest.param(Layer("ops.mean.__globals__"), id="attribute"),
        pytest.param(Layer("operator.call"), id="operator"),
        pytest.param(Layer("tf.math.log"), id="other framework"),
        pytest.param(Layer("operator.subtract"), id="one tensor"),
    ],
)
def test_what_is_no_word_is_refused(layer: Layer) -> None:
    graph = Graph(inputs=(Input((3, 4)),), layers=(layer,), calls=(Call(0, (Ref(0),)),), takes=Ref(0), gives=Ref(1))
    with pytest.raises(MalformedGraph):
        write_source(graph, "keras")


def test_of_tensorflow_only_what_is_drawn_is_written() -> None:
    graph = Graph((Input((3,)),), (Layer("tf.py_function"),), (Call(0, (Ref(0),)),), Ref(0), Ref(1))
    with pytest.raises(MalformedGraph, match="py_function"):
        write_source(graph, "tf_keras")
