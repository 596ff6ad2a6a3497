"""Child processes of subjects; some abort, hang, use too much memory or do not start."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from clonediff.harness.campaign.shards import Setup
from clonediff.harness.campaign.tasks import CampaignProcess, CampaignTrials
from clonediff.harness.subjects import Case, Limits, Subject, SubjectProcess
from clonediff.harness.trials.trial import Trial, run
from clonediff.strategies.program import to_json
from tests.helpers.example_graphs import graph_of_layer
from tests.helpers.waiting import PATIENCE, has_ended, wait_until

pytestmark = pytest.mark.no_keras

GOOD_SOURCE = """
import keras
inputs = keras.Input((3,), name="inputs")
model = keras.Model(inputs, keras.layers.Dense(2, name="dense")(inputs))
"""
FAKE_CHILD = """
import json, sys
print(json.dumps({"ready": {"generation": "keras", "keras": "0", "backend": "none", "backend_version": "0",
                            "numpy": "0", "python": "3"}}), flush=True)
for line in sys.stdin:
    answer = {}
    try:
        request = json.loads(line)
        exec(request["source"] if request["do"] == "draw" else request["request"]["case"]["source"])
    except Exception as error:
        answer = {"refusal": {"type": type(error).__name__, "message": str(error)}}
    print(json.dumps({"answer": answer}), flush=True)
"""
"""A child that follows the protocol without Keras, for tests of the parent."""

INPUTS = ({"shape": [3], "dtype": "float32", "fill": "normal"},)
MIB = 1 << 20


def fake_process(subject: str = "keras", search_path: tuple[str, ...] = (), **limits: float) -> SubjectProcess:
    command = [sys.executable, "-u", "-c", FAKE_CHILD]
    child_limits = Limits(**limits)  # type: ignore[arg-type]
    return SubjectProcess(Subject.parse(subject), search_path=search_path, limits=child_limits, command=command)


def run_source(
    process: SubjectProcess, source: str = GOOD_SOURCE, *cloners: str, timeout: float | None = None, lost: bool = False
) -> Trial:
    trial = run(Case(source, INPUTS), process, cloners, timeout=timeout)
    assert (trial.lost is not None) is lost
    return trial


def refusal_of(process: SubjectProcess, source: str) -> str:
    failure = run_source(process, source).refusal
    return failure.message if failure else ""


def test_a_process_runs_a_trial_and_returns_the_values_of_its_digests(keras: SubjectProcess) -> None:
    assert (keras.subject.generation, keras.start_message.backend) == ("keras", "tensorflow")
    noisy = "import os\nprint('{\"answer\": {}}')\nfor _ in range(2000):\n    os.write(2, b'x' * 1000)\n"
    answer = run_source(keras, GOOD_SOURCE + noisy, "upstream", "fixed")
    assert set(answer.clones) == {"upstream", "fixed"}
    assert answer.original is not None
    weights = answer.original.copied_weights
    (equal,), (missing,) = keras.values([(weights[0], weights[0])]), keras.values([("no", "such")])
    assert equal.count == 0
    assert missing.missing == ("no", "such")


def test_a_request_that_the_child_cannot_answer_raises_an_error(keras: SubjectProcess) -> None:
    with pytest.raises(RuntimeError, match="the request 'trial' failed: KeyError: .*unknown cloner 'absent'"):
        run_source(keras, GOOD_SOURCE, "absent")
    assert run_source(keras).is_built


def test_after_an_abort_the_next_trial_has_a_new_process(keras: SubjectProcess) -> None:
    keras.start()
    pid, aborts = keras.pid, keras.losses["a trial: SIGABRT"]
    outcome = run_source(keras, f"{GOOD_SOURCE}import os\ndef stop():\n    os.abort()\nstop()", lost=True).lost
    assert outcome is not None
    assert outcome.reason == "SIGABRT"
    assert [frame.function for frame in outcome.frames][-2:] == ["<module>", "stop"]
    assert any("Fatal Python error: Aborted" in line for line in outcome.stderr)
    assert run_source(keras, GOOD_SOURCE, "upstream").is_built
    assert keras.losses["a trial: SIGABRT"] == aborts + 1
    assert keras.pid != pid


def test_a_hang_times_out_and_is_reported_with_its_place(keras: SubjectProcess) -> None:
    source = "def spin():\n    while True:\n        pass\nspin()"
    for limit in (2, 60):  # a busy machine may need more than two seconds to reach the loop
        keras.start()
        outcome = run_source(keras, source, timeout=limit, lost=True).lost
        assert outcome is not None
        assert outcome.line == f"timed out: no answer in {limit} s"
        if outcome.frames[-1].function == "spin":
            break
    assert outcome.frames[-1].function == "spin"


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("import os\nos._exit(7)", r"exit code 7"),
        ("import sys\nsys.stderr.write('no\\n')\nraise SystemExit(7)", r"exit code 7: no"),
        ("import os\nos.kill(os.getpid(), 9)", r"SIGKILL"),
        ("import os\nos.kill(os.getpid(), 35)", r"signal 35"),
        ("held = []\nwhile True:\n    held.append(b'x' * 50_000_000)", r"out of memory: [4-7]\d\d MiB of 400 MiB"),
    ],
)
def test_the_outcome_says_how_a_process_was_lost(source: str, line: str) -> None:
    with fake_process(memory=400 * MIB) as process:
        outcome = run_source(process, source, lost=True).lost
        assert outcome is not None
        assert re.fullmatch(line, outcome.line)
        assert run_source(process, "").lost is None


def test_the_output_of_a_child_is_cut() -> None:
    writes = "import os\nos.write(2, bytes(17 << 20))\nwhile os.fstat(2).st_size > 16 << 20:\n    pass\n"
    with fake_process() as process:
        assert refusal_of(process, f"{writes}raise ValueError('it was cut')") == "it was cut"


def test_the_answer_to_an_interrupted_request_is_dropped(tmp_path: Path) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    handler = signal.signal(signal.SIGALRM, interrupt)
    file = tmp_path / "file"
    waiting = f"from pathlib import Path\nwhile not Path({str(file)!r}).exists():\n    pass\n"
    with fake_process() as process:
        assert run_source(process, "").lost is None
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        with pytest.raises(KeyboardInterrupt):
            run_source(process, f"{waiting}raise ValueError('late')")
        signal.signal(signal.SIGALRM, handler)
        file.touch()
        assert refusal_of(process, "raise ValueError('in time')") == "in time"


def test_the_error_names_a_missing_device() -> None:
    with pytest.raises(Exception, match="keras@gpu: none 0 sees no gpu:0 here.* or ask for keras$"):
        fake_process("keras@gpu").start()


def test_the_first_draw_that_ends_a_process_is_named() -> None:
    with fake_process() as process:
        for seed in (3, 4):
            assert process.draw({"seed": seed, "source": "import os\nos._exit(7)"}) is None
        ((loss, count),) = process.losses.items()
    assert (count, loss.partition('"seed":3')[2]) == (2, ',"source":"import os\\nos._exit(7)"}: exit code 7')


def test_a_child_has_the_backend_of_its_subject_and_one_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    env = {"OMP_NUM_THREADS": "4", "XLA_FLAGS": "--xla_backend_optimization_level=2", "PYTHONPATH": "mine"}
    env |= {"GITHUB_TOKEN": "secret", "TF_VAR_password": "secret", "DATA": "there", "CLONEDIFF_VARIABLES": "NO,DATA"}
    for name, value in {**env, "CUDA_VISIBLE_DEVICES": "1"}.items():
        monkeypatch.setenv(name, value)
    source = "import json, os\nraise ValueError(json.dumps(dict(os.environ)))"
    with fake_process("keras/jax", ("/one", "/two")) as process:
        variables = json.loads(refusal_of(process, source))
    expected = {
        "KERAS_BACKEND": "jax",
        "OMP_NUM_THREADS": "4",
        "TF_NUM_INTRAOP_THREADS": "1",
        "CUDA_VISIBLE_DEVICES": "",
        "XLA_FLAGS": "--xla_backend_optimization_level=2 --xla_cpu_multi_thread_eigen=false",
        "PYTHONPATH": f"/one:/two:{tmp_path}/mine",  # an absolute path, since a child runs in its own folder
        "DATA": "there",
    }
    assert {name: variables[name] for name in expected} == expected
    assert "secret" not in variables.values()


def test_a_trial_leaves_no_process_and_no_file() -> None:
    leftovers = """
import os, subprocess, tempfile
child = subprocess.Popen(["sleep", "600"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
raise ValueError(f"{child.pid} {tempfile.mkstemp()[1]} {os.getcwd()}")
"""
    with fake_process() as process, fake_process() as other:
        for end in (process.close, lambda: process.trial(Case("import os\nos.abort()", ()), cloners=[])):
            child, file, folder = refusal_of(process, leftovers).split()
            another = refusal_of(other, leftovers).split()[2]
            assert Path(file).parent == Path(folder) != Path(another)
            assert Path(file).is_file()
            end()
            wait_until(lambda pid=int(child): has_ended(pid))
            assert not Path(folder).exists()
            assert Path(another).exists()


def test_a_killed_parent_leaves_no_process_and_its_files_are_removed(tmp_path: Path) -> None:
    began, files = tmp_path / "began", tmp_path / "files"
    files.mkdir()
    (files / "clonediff-of-another").mkdir()
    (files / "clonediff-link").symlink_to(tmp_path)
    (tmp_path / "lock").touch()
    environment = {**os.environ, "TMPDIR": str(files)}
    program = f"""
import threading
from clonediff.harness.subjects import Case, Subject, SubjectProcess
process = SubjectProcess(Subject("keras"), command=[{sys.executable!r}, "-u", "-c", {FAKE_CHILD!r}])
thread = threading.Thread(target=process.start)  # the thread ends before its child process
thread.start()
thread.join()
print(process.pid, flush=True)
source = "import os, subprocess\\nchild = subprocess.Popen(['sleep', '600'])\\n"
source += "open({str(began)!r}, 'w').write(str(child.pid))\\nwhile True: pass"
process.trial(Case(source, ()), cloners=["upstream"], timeout=300)
"""
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, env=environment)
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    wait_until(lambda: began.exists() and began.read_text(), parent)
    parent.kill()
    parent.communicate()
    wait_until(lambda: has_ended(pid) and has_ended(int(began.read_text())))
    assert len(list(files.iterdir())) == 3
    clean = "from clonediff.harness.subjects.child import scratch_folder; scratch_folder()"
    subprocess.run([sys.executable, "-c", clean], env=environment, check=True)
    assert {path.name for path in files.iterdir()} == {"clonediff-of-another", "clonediff-link"}
    assert (tmp_path / "lock").exists()


def test_an_error_in_a_trial_is_counted_with_its_graph() -> None:
    error = json.dumps({"error": {"type": "KeyError", "message": "no"}})
    child = f"{FAKE_CHILD.partition('for line')[0]}for line in sys.stdin:\n    print({error!r}, flush=True)"
    process, graph = CampaignProcess(Subject("keras"), ()), graph_of_layer("layers.ReLU()")
    process._command = [sys.executable, "-u", "-c", child]
    with process:
        trials = CampaignTrials(process, Setup("", ("upstream",)))
        assert trials.try_graph(graph).skip_reason
        assert process.draw({"seed": 3}) is None
        ((fault, count),) = process.faults.items()
    assert (count, process.fault_examples) == (2, {fault: to_json(graph)})


def _kill(process: SubjectProcess) -> None:
    assert process.pid is not None
    pid = process.pid
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: has_ended(pid))


@pytest.mark.parametrize(
    ("limits", "between", "losses"),
    [
        pytest.param({"growth": -1}, lambda process: None, {}, id="has grown"),
        pytest.param({}, _kill, {"no request: it ended by itself": 1}, id="died"),
    ],
)
def test_a_child_is_replaced_between_two_trials(
    limits: dict[str, float], between: Callable[[SubjectProcess], None], losses: dict[str, int]
) -> None:
    with fake_process(**limits) as process:
        assert run_source(process, "").lost is None
        first = process.pid
        between(process)
        assert run_source(process, "").lost is None
        assert process.pid != first
        assert dict(process.losses) == losses


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("import sys; sys.exit('no such thing')", "does not start: exit code 1: no such thing"),
        ("import os; os.abort()", "does not start: SIGABRT"),
        ("input()", "does not start: timed out: no answer in 1 s"),
        ('print(\'{"error": {"type": "ImportError", "message": "no keras"}}\')', "ImportError: no keras"),
        ("print('{\"classes\": []}')", "has neither `ready` nor `error`"),
        ('print(\'{"ready": {"keras": 3}}\')', "does not follow the protocol: .*keras"),
        ("print('{' * 100_000)", "does not follow the protocol"),
    ],
)
def test_the_error_says_why_a_child_does_not_start(program: str, message: str) -> None:
    limits = Limits(start=1 if "timed out" in message else PATIENCE)
    process = SubjectProcess(Subject("keras"), limits=limits, command=[sys.executable, "-u", "-c", program])
    with pytest.raises(RuntimeError, match=message):
        process.start()
    assert process.pid is None
