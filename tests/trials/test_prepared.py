"""Models with preparations, and clones with arguments, in a real process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from clonediff.harness.subjects import Case, SubjectProcess
from clonediff.harness.trials.graph_trials import GraphTrials
from clonediff.harness.trials.trial import run
from clonediff.reports.known import load
from clonediff.strategies.prepare import CLONE_ARGUMENTS
from clonediff.strategies.program import Apply, Generation, Input, Nest, Preparation, Program, Scope
from clonediff.strategies.undefined import why_undefined
from tests.helpers.drawn_graphs import graph_of
from tests.helpers.example_graphs import graph_of_layer, graph_of_source
from tests.helpers.trials import assert_fixed_is_faithful, run_trial
from tests.helpers.waiting import PATIENCE

Warm = Callable[[str], SubjectProcess]

DENSE = Apply("Dense", (("units", "3"),))
DROPOUT = Apply("Dropout", (("rate", "0.5"),), ((0, 0),))
NEST = Nest((Apply("Dense", (("units", "2"),)),), ((1, 0),))
X = Input((4,), name="x")


@pytest.mark.parametrize("part", ["model", "clone", "both"])
def test_the_fixed_cloner_copies_objects_of_a_custom_object_scope(part: str, warm: Warm) -> None:
    text = "<halves>" if part == "clone" else '"halves"'
    layer = Apply("Dense", (("units", "3"), ("kernel_initializer", text)))
    assert_fixed_is_faithful(graph_of(layer, scope=Scope("halves", part)), warm("keras"))


RAISE_SETTINGS = """
import keras
from keras.src.saving.serialization_lib import in_safe_mode

raise ValueError(keras.config.floatx(), keras.config.image_data_format(), in_safe_mode())
"""
SESSIONS = (
    'keras.config.set_image_data_format("channels_first")',
    'keras.config.set_floatx("float64")',
    "keras.config.enable_unsafe_deserialization()",
)


def test_models_with_session_settings_are_cloned_and_the_settings_reset(keras: SubjectProcess) -> None:
    def session() -> str:
        refusal = run(Case(RAISE_SETTINGS, ()), keras, ("fixed",), timeout=PATIENCE).refusal
        assert refusal is not None and refusal.type == "ValueError"
        return refusal.message

    before = session()
    assert "float32" in before and "channels_last" in before
    for line in SESSIONS:
        steps = (Preparation("session", (line,)),)
        assert_fixed_is_faithful(graph_of(Apply("MaxPooling2D"), inputs=(Input((6, 6, 3)),), preparations=steps), keras)
        assert session() == before


ADAPT = 'layer.adapt(["a", "b", "a"])\nx = keras.Input((1,), dtype="string")\nmodel = keras.Model(x, layer(x))\n'
STATEFUL = "x = keras.Input(batch_shape=(2, 3, 4))\nmodel = keras.Model(x, layers.LSTM(2, stateful=True)(x))\n"
ATTENTION = (
    "x = keras.Input((3, 4))\nmodel = keras.Model(x, layers.MultiHeadAttention(1, 2)(x, x, None, None, False, True))\n"
)
WORDS, STEPS = Input((1,), "string", fill="words"), Input((3, 4))


@pytest.mark.parametrize(
    ("body", "spec", "seen", "aspects"),
    [
        (STATEFUL, STEPS, "name='lstm/Variable:0'", set()),
        (f"layer = layers.StringLookup()\n{ADAPT}", WORDS, "", set()),
        (f"layer = layers.TextVectorization()\n{ADAPT}", WORDS, "", {"name"}),
        (ATTENTION, STEPS, "", {"name"}),
        (f"{STATEFUL}model.extra = keras.Sequential([layers.Dense(3)])\n", STEPS, "", {"attribute.extra"}),
    ],
    ids=["states", "lookup", "texts", "defaults", "not built"],
)
def test_a_trial_compares_states_tables_and_attributes_of_tf_keras(
    body: str, spec: Input, seen: str, aspects: set[str], warm: Warm
) -> None:
    head = "import tf_keras as keras\nfrom tf_keras import layers\n\n"
    graph = graph_of_source(head + body, spec, generation="tf_keras")
    trial = run_trial(graph, warm("tf_keras"), "upstream", "fixed", costly=True)
    assert trial.original is not None and trial.original.inference is not None
    assert trial.original.inference.failure is None and seen in str(trial.original)
    assert trial.clones["fixed"].differences == ()
    assert {difference.aspect for difference in trial.clones["upstream"].differences} == aspects


def test_a_clone_by_tf_keras_need_not_be_compiled(warm: Warm) -> None:
    compiled = Preparation("compile", ('<it>.compile(loss="mse")',))
    graph = graph_of(DENSE, generation="tf_keras", preparations=(compiled,))
    clone = run_trial(graph, warm("tf_keras"), "upstream").clones["upstream"]
    assert "compiled" not in {difference.aspect for difference in clone.differences}


FUNCTION = "def transform(x):\n    return x * 2.0\n\n\n"


def test_a_registered_function_is_unknown_in_the_next_trial(keras: SubjectProcess) -> None:
    trials = GraphTrials(keras, load(), cloners=("upstream",))
    found = []
    for above in ("@keras.saving.register_keras_serializable()\n", ""):
        graph = graph_of_layer("layers.Lambda(transform)")
        source = graph.source.replace("\n\n", f"\n\n{above}{FUNCTION}", 1)
        causes = trials.try_graph(replace(graph, source=source), costly=False).found_causes
        found.append([cause.known.id if cause.known else cause.title for cause in causes])
    assert found == [["input-name"], ["unregistered"]]


@pytest.mark.no_keras
@pytest.mark.parametrize(
    ("kind", "does", "fields", "reason"),
    [
        ("StringLookup", "adapt", {}, "the output width of a lookup"),
        ("SpectralNormalization", "quantize", {}, "a kernel that is quantized"),
        ("Dense", "", {"clone_arguments": "call_function", "sequential": True}, "the calls of a Sequential"),
        ("Dense", "", {"clone_arguments": "listed", "takes": "dict"}, "input tensors in a nested list"),
        ("Dense", "", {"clone_arguments": "recursive"}, "recursion without a nested model"),
        ("Dense", "", {"clone_arguments": "fresh", "inputs": (Input((4,)),)}, "inputs without a name"),
        ("Dense", "adapt", {"clone_arguments": "fresh"}, ""),
    ],
)
def test_the_reason_says_why_a_program_has_no_defined_clone(
    kind: str, does: str, fields: dict[str, Any], reason: str
) -> None:
    layer = Apply(kind, (("output_mode", '"tf_idf"'),))
    program = Program("keras", **{"inputs": (X,), **fields}, body=(layer,), preparations=(Preparation(does, ()),))
    assert reason in why_undefined(program) and bool(reason) == bool(why_undefined(program))


CHAIN: tuple[Apply, ...] = (DENSE, Apply("ReLU", (), ((0, 0),)))


@pytest.mark.parametrize("generation", ["keras", "tf_keras"])
@pytest.mark.parametrize("recipe", CLONE_ARGUMENTS)
def test_our_clone_model_accepts_the_arguments_of_keras(generation: Generation, recipe: str, warm: Warm) -> None:
    if generation == "tf_keras" and {"call_function", "recursive"} & {*recipe.split()}:
        return
    for sequential in (False, True):
        body = CHAIN if sequential else (DENSE, DROPOUT, NEST)
        fields: Any = {"generation": generation, "sequential": sequential, "clone_arguments": recipe}
        if not why_undefined(Program(inputs=(X,), body=body, **fields)):
            assert_fixed_is_faithful(graph_of(*body, inputs=(X,), **fields), warm(generation))
