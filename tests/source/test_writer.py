"""Graph to source: what a person would have typed, and nothing that a graph's strings could smuggle in."""

from __future__ import annotations

import ast

import pytest
from msgspec import structs

from clonediff.harness.source import write_source
from clonediff.strategies import Graph, MalformedGraph, infer
from clonediff.strategies.graph import Base, Call, Function, Input, Layer, Made, Ref, Seq
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


DENSE = Layer("Dense", (("units", 4),))
CHAIN = (Call(0, (Ref(0),)), Call(1, (Ref(1),)), Call(1, (Ref(2),)))
CUT = {
    "by the variables of its tensors": (
        Graph(
            (Input((4,)),), (Layer("ReLU"), DENSE), CHAIN, Ref(0), Ref(2), name="m", base=Base(Ref(0), Seq((Ref(3),)))
        ),
        """\
inputs = keras.Input(shape=(4,))
re_lu = layers.ReLU()(inputs)
dense_layer = layers.Dense(4)
dense = dense_layer(re_lu)
dense_2 = dense_layer(dense)
base = keras.Model(inputs, [dense_2])
model = keras.Model(inputs, dense, name="m")
""",
    ),
    "by the layers of a Sequential": (
        Graph(
            (Input((4,)),),
            (Layer("ReLU"), DENSE),
            CHAIN[:2],
            Seq((Ref(1),)),
            Ref(2),
            trainable=False,
            sequential=True,
            base=Base(Ref(0), Ref(2)),
        ),
        """\
base = keras.Sequential([keras.Input(shape=(4,)), layers.ReLU(), layers.Dense(4)])
model = keras.Model([base.layers[0].output], base.layers[1].output)
model.trainable = False
""",
    ),
}


@pytest.mark.parametrize("how", CUT)
def test_a_model_is_cut_out_of_its_base(how: str) -> None:
    graph, lines = CUT[how]
    infer(graph)
    assert write_source(graph, "keras") == f"import keras\nfrom keras import layers\n\n{lines}"


def test_inputs_are_made_around_tensors_left_out_and_taken_twice() -> None:
    graph = Graph(
        inputs=(Input((3, 4), around="features"), Input((3, 4), optional=True, fill="nothing")),
        layers=(Layer("Join"),),
        calls=(Call(0, (Ref(0), None, Ref(0)), (("other", Ref(1)),)),),
        takes=Seq((Ref(0), Ref(1), Ref(0))),
        gives=Ref(2),
        generation="keras",
    )
    infer(graph)
    *_, first, second, called, model = write_source(graph, "keras").splitlines()
    assert first == 'input_1 = keras.Input(tensor=keras.KerasTensor((None, 3, 4), name="features"))'
    assert second == "input_2 = keras.Input(shape=(3, 4), optional=True)"
    assert called == "join = Join()(input_1, None, input_1, other=input_2)"
    assert model == "model = keras.Model([input_1, input_2, input_1], join)"


def test_before_keras_3_an_input_is_made_around_the_tensor_of_another() -> None:
    around = Graph((Input((3, 4), batch=2, around="features"),), (), (), Ref(0), Ref(0), generation="tf_keras")
    text = 'inputs = keras.Input(tensor=keras.Input(shape=(3, 4), batch_size=2, name="features"))'
    assert text in write_source(around, "tf_keras").splitlines()
    first = structs.replace(around, layers=(Layer("ReLU"),), calls=(Call(0, (Ref(0),)),), gives=Ref(1), sequential=True)
    assert text.removeprefix("inputs = ") in write_source(first, "tf_keras")


RAGGED = Graph(
    inputs=(Input((None,), "int32", fill="ids", high=6, ragged=True),),
    layers=(Layer("Embedding", (("input_dim", 6), ("output_dim", 4))), Layer("GlobalAveragePooling1D")),
    calls=(Call(0, (Ref(0),)), Call(1, (Ref(1),))),
    takes=Ref(0),
    gives=Seq((Ref(1), Ref(2))),
    generation="keras",
)


def test_a_ragged_input_is_written_and_is_ragged_until_its_rows_are_no_more() -> None:
    assert [specs[0].ragged for specs in infer(RAGGED)] == [True, True, False]
    assert 'keras.Input(shape=(None,), dtype="int32", ragged=True)' in write_source(RAGGED, "keras")
    assert 'keras.Input(shape=(None,), dtype="int32", ragged=True)' in write_source(RAGGED, "tf_keras")


CHAIN = Graph(
    (Input((4,)),), (Layer("ReLU"),), (Call(0, (Ref(0),)), Call(0, (Ref(1),))), Ref(0), Ref(2), sequential=True
)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "model = keras.Sequential([keras.Input(shape=(4,)), re_lu_layer, re_lu_layer])"),
        ({"built": "later"}, "model = keras.Sequential([re_lu_layer, re_lu_layer])\nmodel.build((None, 4))"),
        ({"built": "not yet"}, "model = keras.Sequential([re_lu_layer, re_lu_layer])"),
        (
            {"inputs": (Input((4,), batch=2, name="start"),)},
            'model = keras.Sequential([layers.InputLayer(shape=(4,), batch_size=2, name="start"), '
            "re_lu_layer, re_lu_layer])",
        ),
    ],
)
def test_a_sequential_begins_as_it_was_begun(changes: dict[str, object], expected: str) -> None:
    text = write_source(structs.replace(CHAIN, **changes), "keras")
    assert text.partition("re_lu_layer = layers.ReLU()\n")[2] == f"{expected}\n"


EVIL = '"); import os; os.abort() #'


@pytest.mark.parametrize(
    "graph",
    [
        pytest.param({"name": EVIL}, id="model-name"),
        pytest.param({"inputs": (Input((4,), name=EVIL),)}, id="input-name"),
        pytest.param({"inputs": (Input((4,), around=EVIL),)}, id="tensor-name"),
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
