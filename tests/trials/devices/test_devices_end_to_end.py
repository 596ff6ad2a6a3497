"""One case in two processes: on CPU and GPU where there is one, and on two CPUs to prove the way there."""

from __future__ import annotations

import contextlib
import textwrap
from collections.abc import Callable, Iterator

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from clonediff.harness.subjects import Case, NoDeviceError, Subject, SubjectProcess
from clonediff.harness.subjects.observation import Answer
from clonediff.harness.subjects.presence import gpus, missing
from clonediff.harness.trials.across import comparable
from clonediff.harness.trials.cases import case_of
from clonediff.harness.trials.triage import Verdict
from clonediff.strategies.graph import Graph
from tests.warm_keras import graphs_of

from .both import run_on_both
from .second import SecondProcess

SUBJECTS = ("keras", "tf_keras", "keras/jax", "keras/torch")
ONE_OF_TENSORFLOW = [
    pytest.param(each, marks=pytest.mark.slow(reason="keras tries the same on TensorFlow"))
    if each == "tf_keras"
    else each
    for each in SUBJECTS
]
"""Where what is tried is not of a generation, tf_keras shows no more than Keras on TensorFlow."""
INPUTS = ({"shape": [4, 3], "dtype": "float32", "fill": "steps"},)
CASE = """
import os
{keras}

PLANTED = float(os.path.exists(os.environ.get("CLONEDIFF_PLANTED", "")))

inputs = keras.Input((4, 3), name="inputs")
masked = keras.layers.Masking(name="masked")(inputs)
shifted = keras.layers.Lambda(lambda x: x + PLANTED, name="shifted")(masked)
dropped = keras.layers.Dropout(0.5, name="dropped")(shifted)
dense = keras.layers.Dense(3, name="dense")(dropped)
final = keras.layers.LSTM(2, name="final")(dense)
model = keras.Model(inputs, [inputs, dense, final])
"""
COUNTED = """
import os
{keras}

class Counted(keras.layers.Layer):
    def build(self, shape):
        first = int(os.path.exists(os.environ.get("CLONEDIFF_PLANTED", "")))
        self.count = self.add_weight(name="count", shape=(), dtype="int32", trainable=False,
                                     initializer=lambda shape, dtype=None: first)

    def call(self, x):
        return x * 1.0

inputs = keras.Input((4, 3), name="inputs")
model = keras.Model(inputs, Counted(name="counted")(inputs))
"""

Processes = Callable[[str], SubjectProcess]


def case(subject: str, source: str = CASE, **changed: int) -> Case:
    keras = "import tf_keras as keras" if subject.startswith("tf_keras") else "import keras"
    return Case(textwrap.dedent(source).format(keras=keras), INPUTS, **changed)


@pytest.fixture(scope="session")
def processes(warm: Processes, seconds: Callable[[str], SecondProcess]) -> Processes:
    """The process of a name, started once; "keras 2" is another one of "keras". What is not there skips the test."""

    def process(name: str) -> SubjectProcess:
        package, _, another = name.partition(" ")
        reason = missing(Subject.parse(package))
        if reason is not None:
            pytest.skip(reason=reason)
        its = seconds(package).process if another else warm(package)
        try:
            its.start()
        except NoDeviceError as error:
            pytest.skip(reason=str(error))
        return its

    return process


@pytest.mark.parametrize("subject", ONE_OF_TENSORFLOW)
def test_two_processes_draw_the_same_and_agree(subject: str, processes: Processes) -> None:
    both = run_on_both(case(subject), processes(subject), processes(f"{subject} 2"))
    assert both.differences == ()
    assert both.compared == ("inference", "training")
    first, second = (trial.original for trial in both.trials)
    assert first is not None
    assert second is not None
    assert first.copied_weights == second.copied_weights
    assert len(first.copied_weights) == 5
    assert [state.value for state in first.shape.states] == [state.value for state in second.shape.states]
    assert first.inference == second.inference
    assert first.training == second.training
    assert first.training != first.inference, "no layer was in training mode"
    assert {trial.clones["fixed"].verdict for trial in both.trials} == {Verdict.FAITHFUL}


@pytest.mark.parametrize("subject", ["keras/jax", "keras/torch"])
def test_another_backend_is_given_the_same_inputs_and_weights(subject: str, processes: Processes) -> None:
    both = run_on_both(case("keras"), processes("keras"), processes(subject))
    assert both.compared == ("inference",)
    first, second = (trial.original for trial in both.trials)
    assert first is not None and first.inference is not None
    assert second is not None and second.inference is not None
    assert first.copied_weights == second.copied_weights
    assert first.inference.outputs[0] == second.inference.outputs[0]
    assert both.differences == ()


@pytest.fixture
def planted(processes: Processes, seconds: Callable[[str], SecondProcess]) -> Iterator[Processes]:
    """Second processes in which something is planted."""
    with contextlib.ExitStack() as there:

        def process(name: str) -> SubjectProcess:
            processes(name)
            return there.enter_context(seconds(name).planted("for the model"))

        yield process


@pytest.mark.parametrize("subject", ONE_OF_TENSORFLOW)
def test_a_planted_difference_is_one_of_the_devices(subject: str, processes: Processes, planted: Processes) -> None:
    both = run_on_both(case(subject), processes(subject), planted(subject))
    assert {each.check for each in both.differences} == {"device"}
    told = {each.path: each for each in both.differences}
    shifted = told["original.inference.steps['shifted'][0].outputs[0]"]
    assert shifted.numbers is not None
    assert shifted.numbers.max_abs == pytest.approx(1.0)
    assert shifted.numbers.differing == shifted.numbers.total == 36
    assert "original.inference.outputs[0]" not in told, "the inputs are the same"
    output = told["clones['fixed'].inference.outputs[2]"]
    assert output.first is not None
    assert output.first.name == "shifted", "an output names the first layer where the two part"
    # Each of the two is right in itself, so that no cloner is accused.
    assert [trial.clones["fixed"].verdict for trial in both.trials] == [Verdict.FAITHFUL] * 2
    assert [each.blame for each in both.trials[0].clones["upstream"].causes] == [
        each.blame for each in both.trials[1].clones["upstream"].causes
    ]


@pytest.mark.parametrize("subject", ONE_OF_TENSORFLOW)
def test_weights_that_are_not_the_same_are_all_that_is_told(
    subject: str, processes: Processes, planted: Processes
) -> None:
    both = run_on_both(case(subject, COUNTED), processes(subject), planted(subject))
    assert [(each.check, each.aspect) for each in both.differences] == [("device", "weight")]
    assert both.differences[0].first is not None
    assert both.differences[0].first.name == "counted"


def test_a_model_that_only_one_device_can_build_is_told(processes: Processes, planted: Processes) -> None:
    refusing = "import os\nassert not os.path.exists(os.environ.get('CLONEDIFF_PLANTED', ''))\n" + CASE
    both = run_on_both(case("keras", refusing), processes("keras"), planted("keras"))
    assert [trial.built for trial in both.trials] == [True, False]
    assert {(each.check, each.aspect, each.found) for each in both.differences} == {("device", "made", "none")}


@pytest.mark.slow(reason="a Keras starts anew; one that dies is an outcome in test_process, and a difference above")
def test_a_process_that_only_one_device_loses_is_told(processes: Processes, planted: Processes) -> None:
    killing = "import os\nif os.path.exists(os.environ.get('CLONEDIFF_PLANTED', '')): os._exit(3)\n" + CASE
    both = run_on_both(case("keras", killing), processes("keras"), planted("keras"))
    assert [(each.aspect, each.expected, each.found) for each in both.differences] == [("process", "Answer", "Killed")]


def test_elements_come_back_to_the_bit_and_within_a_bound(processes: Processes) -> None:
    source = """
    import keras, numpy
    inputs = keras.Input((3,), name="inputs")
    odd = numpy.array([float("nan"), float("-inf"), 0.1], "float32")
    outputs = [
        keras.layers.Lambda(lambda x: x * 0 + odd, name="odd")(inputs),
        keras.layers.Lambda(lambda x: keras.ops.cast(x * 0 + 2.5, "bfloat16"), name="half")(inputs),
        keras.layers.Lambda(lambda x: x > 100, name="flag")(inputs),
    ]
    model = keras.Model(inputs, outputs)
    """
    process = processes("keras")
    answer = process.trial(Case(textwrap.dedent(source), ({"shape": [3], "dtype": "float32"},), 1), cloners=[])
    assert isinstance(answer, Answer) and answer.original is not None and answer.original.inference is not None
    digests = [leaf.digest for leaf in answer.original.inference.outputs]
    odd, half, flag = process.elements(digests)
    assert odd is not None and half is not None and flag is not None
    nan, infinite, tenth = odd.numbers()
    assert nan != nan
    assert (infinite, tenth) == (float("-inf"), 0.10000000149011612)
    assert (half.dtype, half.numbers()) == ("bfloat16", (2.5, 2.5, 2.5))
    assert (flag.shape, flag.numbers()) == ((1, 3), (False, False, False))
    assert process.elements([*digests, "no such"], limit=6)[2:] == [None, None]


@pytest.mark.parametrize(
    ("pair", "runs"),
    [
        ("keras keras@gpu", ("inference", "training")),
        ("keras/jax keras/jax@gpu", ("inference", "training")),
        ("keras/torch keras/torch@gpu", ("inference",)),
        ("keras/torch keras/torch", ("inference", "training")),
        ("keras keras/jax", ("inference",)),
        ("keras tf_keras", ("inference",)),
    ],
)
def test_only_runs_that_draw_alike_are_compared(pair: str, runs: tuple[str, ...]) -> None:
    first, second = map(Subject.parse, pair.split())
    assert comparable(first, second) == runs


@pytest.mark.slow(reason="a Keras that starts to say it; below it is told of one that is not started")
@pytest.mark.parametrize("subject", SUBJECTS)
def test_a_gpu_that_is_not_seen_is_said_at_the_start(
    subject: str, processes: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    processes(subject)  # skips where the backend is not installed
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert "hides every GPU" in str(missing(Subject.parse(f"{subject}@gpu")))
    process = SubjectProcess(Subject.parse(f"{subject}@gpu"))
    with pytest.raises(
        NoDeviceError, match=rf"^{subject}@gpu: \w+ \S+ sees no gpu:0 here, only cpu:0.* ask for {subject}$"
    ):
        process.start()
    assert process.pid is None


def test_what_is_missing_is_told_without_starting_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert missing(Subject("keras", backend="no_such_backend")) == (
        "keras/no_such_backend: no_such_backend is not installed beside clonediff: pip install no_such_backend"
    )
    told = missing(Subject.parse("keras/numpy@gpu"))
    assert told is None if gpus() else "no GPU on this machine" in str(told)


@pytest.mark.gpu
@pytest.mark.parametrize("subject", SUBJECTS)
def test_cpu_and_gpu_agree_on_a_small_model(subject: str, processes: Processes) -> None:
    both = run_on_both(case(subject), processes(subject), processes(f"{subject}@gpu"))
    assert both.differences == ()
    assert [trial.clones["fixed"].verdict for trial in both.trials] == [Verdict.FAITHFUL] * 2


@pytest.mark.gpu
@pytest.mark.parametrize("subject", SUBJECTS)
def test_cpu_and_gpu_agree_on_drawn_graphs(subject: str, processes: Processes) -> None:
    cpu, gpu = processes(subject), processes(f"{subject}@gpu")
    generation = "tf_keras" if subject == "tf_keras" else "keras"

    @settings(
        max_examples=25,
        database=None,
        derandomize=True,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(graphs_of(generation))
    def agree(graph: Graph) -> None:
        both = run_on_both(case_of(graph, generation), cpu, gpu)
        assert [trial.clones["fixed"].verdict for trial in both.trials] == [Verdict.FAITHFUL] * 2
        assert both.differences == ()

    agree()
