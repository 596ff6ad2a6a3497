"""Clones of models that something was done to before, in a real process: what is faithful, and what is caught."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec import structs

from clonediff.harness.drawing.remembered_answers import asked
from clonediff.harness.subjects import Case, SubjectProcess
from clonediff.harness.trials.graph_trials import GraphTrials
from clonediff.harness.trials.trial import run
from clonediff.reports.known import KnownIssues, load
from clonediff.strategies.asking import asking
from clonediff.strategies.graph import (
    Call,
    Form,
    Function,
    Graph,
    Input,
    Layer,
    Made,
    Named,
    Preparation,
    Ref,
    Seq,
    Value,
    from_json,
)
from clonediff.strategies.kinds import Generation
from clonediff.strategies.kinds.recurrent import chained
from clonediff.strategies.preparations import PREPARATIONS
from tests.example_graphs import EXAMPLES
from tests.strategies.models import GRAPH, INNER
from tests.waiting import PATIENCE

from .trying import fixed_is_faithful, tried

ERROR = ("y_true - y_pred",)
CHAIN = Graph(
    (Input((3, 4)),),
    (Layer("Dense", (("units", 4),)), Layer("Bidirectional", (("layer", Made(Layer("LSTM", (("units", 2),)))),))),
    (Call(0, (Ref(0),)), Call(1, (Ref(1),))),
    Ref(0),
    Ref(2),
    sequential=True,
)


def compiled(**args: Value) -> Preparation:
    return Preparation("compile", None, tuple(args.items()))


COMPILED = (
    compiled(),
    compiled(
        optimizer=Named("optimizers.Adam", (("clipnorm", 1.0), ("name", "mine"))),
        loss=Named("losses.Huber", (("delta", 2.0),)),
        loss_weights=0.5,
        metrics=Seq((Named("metrics.CosineSimilarity", (("axis", 1),)),)),
        weighted_metrics=Seq(("mse",)),
        run_eagerly=True,
        steps_per_execution=2,
    ),
    compiled(optimizer=Named("optimizers.SGD", (("learning_rate", Function("rate lambda", ("0.5",))),))),
    compiled(loss=Function("error lambda", ERROR), metrics=Seq((Function("error named", ERROR),)), jit_compile=True),
    compiled(loss=Function("loss class", ERROR)),
    compiled(metrics=Seq((Function("metric class", ERROR),)), weighted_metrics=Seq((Function("error lambda", ERROR),))),
)
OF_BOTH = (
    Preparation("trainable", None, (("trainable", False),)),
    Preparation("trainable", "Dense", (("trainable", False),)),
    Preparation("trainable", "Model", (("trainable", False),)),
)
OF_KERAS = (
    *COMPILED,
    Preparation("weight trainable", "Dense", (("kernel.trainable", False),)),
    Preparation("lora", "Dense", (("rank", 2), ("lora_alpha", 3))),
    Preparation("quantize", None, (("mode", "int8"),)),
)
WITHIN = {
    generation: tuple(
        Preparation("objects", "Dense", (("takes", takes), ("within", within)))
        for takes in argument
        for within in ("clone", "model", "both")
    )
    for generation, argument in {
        "keras": ("kernel_initializer",),
        "tf_keras": ("kernel_initializer", "kernel_regularizer"),
    }.items()
}
SESSIONS = tuple(
    Preparation("session", None, (setting,))
    for setting in (
        ("image_data_format", "channels_first"),
        ("floatx", "float64"),
        ("floatx", "float16"),
        ("flash_attention", False),
        ("unsafe_deserialization", True),
    )
)
IMAGES = Graph(
    (Input((6, 6, 3)),),
    (Layer("MaxPooling2D"),),
    (Call(0, (Ref(0),)),),
    Ref(0),
    Ref(1),
    generation="keras",
)
LEARNING = (
    (Input((4,)), Layer("Normalization", (("mean", 0.5), ("variance", 2.0)))),
    (Input((4,)), Layer("Discretization", (("bin_boundaries", Seq((-0.5, 0.0, 0.5))), ("output_mode", "multi_hot")))),
    (Input((3,), "int32", fill="ids", high=6), Layer("IntegerLookup", (("vocabulary", Seq((1, 2, 4))),))),
    (Input((3,), "string", fill="words"), Layer("StringLookup", (("vocabulary", Seq(("red", "green"))),))),
)


@pytest.mark.parametrize("generation", ["keras", "tf_keras"])
def test_fixed_keeps_what_was_done(generation: str, warm: Callable[[str], SubjectProcess]) -> None:
    process = warm(generation)
    preparations = (*OF_BOTH, *WITHIN[generation], *(OF_KERAS if generation == "keras" else ()))
    graphs = [
        structs.replace(GRAPH, generation=generation, preparations=(preparation,)) for preparation in preparations
    ]
    thawed = Preparation("trainable", "LSTM", (("trainable", True),))
    graphs.append(structs.replace(CHAIN, generation=generation, preparations=(OF_BOTH[0], thawed)))
    scaled = structs.replace(INNER, layers=(Layer("Scale"),))
    for within in ("clone", "model", "both"):
        in_scope = Preparation("objects", "Scale", (("takes", "class"), ("within", within)))
        held = Graph((Input((3, 4)),), (Layer("Model", graph=scaled),), (Call(0, (Ref(0),)),), Ref(0), Ref(1))
        graphs.append(structs.replace(held, generation=generation, preparations=(in_scope,)))
    for graph in graphs:
        fixed_is_faithful(graph, process)


IDS = Input((3,), "int32", fill="ids", high=6)
LOOKUP = Layer(
    "IntegerLookup",
    (("vocabulary", Seq((1, 2, 4))), ("output_mode", "tf_idf"), ("idf_weights", Seq((0.5, 1.0, 2.0)))),
)
READ_OF_THE_SESSION: dict[str, tuple[Input, Layer]] = {
    "a lookup": (IDS, LOOKUP),
    "an operation on whole numbers": (IDS, Layer("ops.sqrt")),
    "an operation on images": (Input((4, 4, 4)), Layer("ops.image.resize", (("size", Seq((2, 2), "tuple")),))),
    "layers in a layer": (Input((3, 3, 3)), Layer("RandomColorJitter", (("brightness_factor", 0.5),))),
}
"""What Keras reads of the session, and no config tells, with an input of each format."""


@pytest.mark.parametrize("what", READ_OF_THE_SESSION)
def test_fixed_keeps_what_was_read_of_the_session(what: str, keras: SubjectProcess) -> None:
    given, layer = READ_OF_THE_SESSION[what]
    graph = Graph((given,), (layer,), (Call(0, (Ref(0),)),), Ref(0), Ref(1), generation="keras")
    for preparation in SESSIONS:
        fixed_is_faithful(structs.replace(graph, preparations=(preparation,)), keras)
        if what == "a lookup":
            held = structs.replace(graph, preparations=(preparation,), sequential=True)
            fixed_is_faithful(held, keras)


@pytest.mark.parametrize("generation", ["keras", "tf_keras"])
def test_fixed_is_compiled_as_its_model_was(generation: str, warm: Callable[[str], SubjectProcess]) -> None:
    graph = structs.replace(GRAPH, generation=generation, preparations=(COMPILED[1], SESSIONS[1]))
    fixed_is_faithful(graph, warm(generation))


def test_a_model_may_be_compiled_with_what_has_no_config(warm: Callable[[str], SubjectProcess]) -> None:
    with_object = compiled(weighted_metrics=Seq((Form("metric", "callable"),)))
    fixed_is_faithful(structs.replace(GRAPH, generation="tf_keras", preparations=(with_object,)), warm("tf_keras"))


TELLS = """
import keras
from keras.src.saving.serialization_lib import in_safe_mode

config = keras.config
raise ValueError(config.floatx(), config.image_data_format(), config.is_flash_attention_enabled(), in_safe_mode())
"""


def test_the_next_trial_has_the_session_as_it_was(keras: SubjectProcess) -> None:
    def seen() -> str:
        refused = run(Case(TELLS, ()), keras, ("fixed",), timeout=PATIENCE).refused
        assert refused is not None and refused.type == "ValueError"
        return refused.message

    before = seen()
    assert "float32" in before and "channels_last" in before
    for preparation in SESSIONS:
        fixed_is_faithful(structs.replace(IMAGES, preparations=(preparation,)), keras)
        assert seen() == before


def test_fixed_keeps_what_no_config_has(keras: SubjectProcess) -> None:
    names = ("quantized-inside", "policy-of-lookup", "policy-of-pipeline")
    for name in names:
        with asking(asked(keras)):
            graph = from_json(EXAMPLES[name], name)
        fixed_is_faithful(graph, keras)


@pytest.mark.parametrize("generation", ["keras", "tf_keras"])
def test_fixed_keeps_what_was_learned(generation: Generation, warm: Callable[[str], SubjectProcess]) -> None:
    for given, layer in LEARNING:
        graph = Graph((given,), (layer,), (Call(0, (Ref(0),)),), Ref(0), Ref(1), generation=generation)
        with asking(asked(warm(generation))):
            data = PREPARATIONS["adapt"].args(graph, layer.kind)["data"][0]
        graph = structs.replace(graph, preparations=(Preparation("adapt", layer.kind, (("data", data),)),))
        fixed_is_faithful(graph, warm(generation))


def test_before_keras_3_what_was_learned_is_set_with_the_weights(warm: Callable[[str], SubjectProcess]) -> None:
    for given, layer in LEARNING:
        graph = Graph((given,), (layer,), (Call(0, (Ref(0),)),), Ref(0), Ref(1), generation="tf_keras")
        with asking(asked(warm("tf_keras"))):
            data = PREPARATIONS["adapt"].args(graph, layer.kind)["data"][0]
        graph = structs.replace(graph, preparations=(Preparation("adapt", layer.kind, (("data", data),)),))
        found = tried(graph, warm("tf_keras"), "upstream")["upstream"].differences
        assert not any(each.check == "outputs" for each in found), (layer.kind, found)


def test_nobody_says_that_tf_keras_compiles(warm: Callable[[str], SubjectProcess]) -> None:
    graph = structs.replace(GRAPH, generation="tf_keras", preparations=(COMPILED[1],))
    clone = tried(graph, warm("tf_keras"), "upstream")["upstream"]
    assert "compiled" not in {each.aspect for each in clone.differences}


def test_what_a_release_lacks_cannot_be_done_to_its_models(warm: Callable[[str], SubjectProcess]) -> None:
    lora = Preparation("lora", "Dense", (("rank", 2),))
    graph = structs.replace(GRAPH, generation=None, preparations=(lora,))
    tried = GraphTrials(warm("tf_keras"), KnownIssues()).try_or_say_why_not(graph)
    assert tried.refused is not None
    assert "lora" in tried.refused.message


def test_what_upstream_loses_is_told_by_its_part(keras: SubjectProcess) -> None:
    trials = GraphTrials(keras, KnownIssues(), cloners=("upstream",))
    preparations = (compiled(loss=Named("losses.Huber", (("delta", 2.0),))),)
    hits = trials.try_graph(structs.replace(GRAPH, preparations=preparations), costly=False).hits
    assert "What a model is compiled with is another in the clone: loss.Huber.delta" in {hit.title for hit in hits}


def test_the_policy_of_a_sequential_in_a_wrapper_is_one_cause_with_that_of_a_model(keras: SubjectProcess) -> None:
    over_time = Layer("TimeDistributed", (("layer", chained(Layer("Dense", (("units", 3),)), Layer("ReLU"))),))
    policy = Preparation("policy", None, (("name", "mixed_bfloat16"),))
    graph = Graph((Input((3, 4)),), (over_time,), (Call(0, (Ref(0),)),), Ref(0), Ref(1), generation="keras")
    hits = (
        GraphTrials(keras, load(), cloners=("upstream",)).try_graph(structs.replace(graph, preparations=(policy,))).hits
    )
    assert "policy-of-model" in {hit.known.id for hit in hits if hit.known is not None}
    assert [hit.title for hit in hits if hit.known is None] == []


def test_what_one_script_registers_the_next_one_does_not_find(keras: SubjectProcess) -> None:
    trials = GraphTrials(keras, load(), cloners=("upstream",))
    met = []
    for form in ("registered", "named"):
        of_form = Layer("Lambda", (("function", Function(form, ("x * 2.0",))),))
        graph = Graph((Input((4,), name="x"),), (of_form,), (Call(0, (Ref(0),)),), Ref(0), Ref(1), generation="keras")
        met.append([hit.known.id if hit.known else hit.title for hit in trials.try_graph(graph, costly=False).hits])
    assert met == [[], ["lambda-named"]]
