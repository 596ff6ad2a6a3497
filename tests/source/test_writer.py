"""Graph to source: what a person would have typed, and nothing that a graph's strings could smuggle in."""

from __future__ import annotations

import ast

import pytest
from msgspec import structs

from clonediff.harness.source import write_source
from clonediff.strategies import Graph, MalformedGraph
from clonediff.strategies.graph import Call, Function, Input, Layer, Made, Ref, Seq
from clonediff.strategies.kinds import Generation
from tests.warm_keras import hold

MASKED = Graph(
    inputs=(Input((3, 4), fill="steps"),),
    layers=(
        Layer("Masking"),
        Layer("Lambda", (("function", Function("closure", ("x", "x * 2.0"), "list")),), name="both"),
        Layer("operator.add"),
        Layer("MakeMask"),
        Layer("Bidirectional", (("layer", Made(Layer("LSTM", (("units", 2),), trainable=False))),)),
        Layer("Dense", (("units", 3),), marks=("frozen after",)),
    ),
    calls=(
        Call(0, (Ref(0),)),
        Call(1, (Ref(1),), outputs=2),
        Call(2, (Ref(2, 0), Ref(2, 1))),
        Call(3, (Ref(3),)),
        Call(4, (Ref(4),), (("training", True),)),
        Call(5, (Ref(5),)),
        Call(5, (Ref(5),)),
    ),
    takes=Ref(0),
    gives=Seq((Ref(6), Ref(7)), "tuple"),
    name="m",
)

EXPECTED = """\
{imports}


def times(by):
    return lambda x: [x, x * by]


@keras.saving.register_keras_serializable()
class MakeMask(layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    def call(self, x):
        return x * 2.0

    def compute_mask(self, x, mask=None):
        return {any_of}


inputs = keras.Input(shape=(3, 4))
masking = layers.Masking()(inputs)
both_a, both_b = layers.Lambda(times(2.0), name="both")(masking)
add = both_a + both_b
make_mask = MakeMask()(add)
bidirectional = layers.Bidirectional(layers.LSTM(2, trainable=False))(make_mask, training=True)
dense_layer = layers.Dense(3)
dense_layer.trainable = False
dense = dense_layer(bidirectional)
dense_2 = dense_layer(bidirectional)
model = keras.Model(inputs, (dense, dense_2), name="m")
"""

DIALECTS = {
    "keras": (
        "import keras\nfrom keras import layers\nfrom keras import ops",
        "ops.any(ops.not_equal(x, 0.0), axis=-1)",
    ),
    "tf_keras": (
        "import tensorflow as tf\nimport tf_keras as keras\nfrom tf_keras import layers",
        "tf.reduce_any(tf.not_equal(x, 0.0), axis=-1)",
    ),
}


@pytest.mark.parametrize("generation", DIALECTS)
def test_the_text_is_what_a_person_would_type(generation: Generation) -> None:
    imports, any_of = DIALECTS[generation]
    assert write_source(MASKED, generation) == EXPECTED.format(imports=imports, any_of=any_of)


@pytest.mark.parametrize("generation", DIALECTS)
def test_every_drawn_graph_is_written_as_python_that_uses_what_it_names(generation: Generation) -> None:
    def written(graph: Graph) -> None:
        tree = ast.parse(write_source(graph, generation))
        stored = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        assert "model" in stored
        imported = {alias.asname or alias.name for node in tree.body for alias in getattr(node, "names", ())}
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        assert imported <= used

    hold(written, generation, 20, 200)


CHAIN = Graph(
    (Input((4,)),), (Layer("ReLU"),), (Call(0, (Ref(0),)), Call(0, (Ref(1),))), Ref(0), Ref(2), sequential=True
)


@pytest.mark.parametrize(
    ("given", "begins"),
    [
        (Input((4,)), "keras.Input(shape=(4,))"),
        (Input((4,), name="start"), 'layers.InputLayer(shape=(4,), name="start")'),
    ],
)
def test_a_sequential_begins_as_it_was_begun(given: Input, begins: str) -> None:
    text = write_source(structs.replace(CHAIN, inputs=(given,)), "keras")
    expected = f"model = keras.Sequential([{begins}, re_lu_layer, re_lu_layer])\n"
    assert text.partition("re_lu_layer = layers.ReLU()\n")[2] == expected


EVIL = '"); import os; os.abort() #'


@pytest.mark.parametrize(
    "graph",
    [
        pytest.param({"name": EVIL}, id="model-name"),
        pytest.param({"inputs": (Input((4,), name=EVIL),)}, id="input-name"),
        pytest.param({"layers": (Layer("Dense", (("units", EVIL),)),)}, id="argument"),
        pytest.param({"layers": (Layer("Dense", (("units", 3),), name=EVIL),)}, id="layer-name"),
    ],
)
def test_strings_stay_strings(graph: dict[str, object]) -> None:
    parts: dict[str, object] = {
        "inputs": (Input((4,)),),
        "layers": (Layer("Dense", (("units", 3),)),),
        "calls": (Call(0, (Ref(0),)),),
        "takes": Ref(0),
        "gives": Ref(1),
    }
    tree = ast.parse(write_source(Graph(**{**parts, **graph}), "keras"))  # type: ignore[arg-type]  # by name
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import)]
    assert [alias.name for node in imports for alias in node.names] == ["keras"]
    assert any(isinstance(node, ast.Constant) and node.value == EVIL for node in ast.walk(tree))


@pytest.mark.parametrize(
    "layer",
    [
        pytest.param(Layer("Dense", ((EVIL, 3),)), id="argument-name"),
        pytest.param(Layer("Dense", (("units", 3),), dtype=EVIL), id="dtype"),
        pytest.param(Layer(EVIL), id="kind"),
        pytest.param(Layer("Lambda", (("function", Function("lambda", (EVIL,), "list")),)), id="expression"),
        pytest.param(Layer("Lambda", (("function", Function(EVIL, ("x",), "list")),)), id="form"),
        pytest.param(Layer("Bidirectional", (("layer", Made(Layer(EVIL))),)), id="inner-kind"),
    ],
)
def test_what_is_no_word_is_refused(layer: Layer) -> None:
    graph = Graph(inputs=(Input((4,)),), layers=(layer,), calls=(Call(0, (Ref(0),)),), takes=Ref(0), gives=Ref(1))
    with pytest.raises(MalformedGraph, match=r"expected|is not one of Keras'"):
        write_source(graph, "keras")


@pytest.mark.parametrize("wrapped", [False, True], ids=["alone", "as an argument"])
def test_a_layer_that_reads_a_model_from_a_folder_is_not_written(wrapped: bool) -> None:
    reads = Layer("TFSMLayer", (("filepath", "/etc"),))
    layer = Layer("TimeDistributed", (("layer", Made(reads)),)) if wrapped else reads
    graph = Graph(inputs=(Input((3, 4)),), layers=(layer,), calls=(Call(0, (Ref(0),)),), takes=Ref(0), gives=Ref(1))
    with pytest.raises(MalformedGraph, match="TFSMLayer is not written: it reads a model from a folder"):
        write_source(graph, "keras")
