"""A subject's process with real children: ones that work, and ones that abort, hang, eat memory or never start."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import psutil  # type: ignore[import-untyped]  # it comes without types
import pytest

from clonediff.harness.subjects import (
    Case,
    Limits,
    Loss,
    Lost,
    Subject,
    SubjectError,
    SubjectProcess,
)
from clonediff.harness.subjects.observation import Answer
from tests.waiting import PATIENCE, until

GOOD = """
import keras
inputs = keras.Input((3,), name="inputs")
model = keras.Model(inputs, keras.layers.Dense(2, name="dense")(inputs))
"""
FAKE = """
import json, sys
print(json.dumps({"ready": {"generation": "keras", "keras": "0", "backend": "none", "backend_version": "0",
                            "numpy": "0", "python": "3"}}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    answer = {"id": request["id"], "answer": {}}
    try:
        exec(request["source"])
    except Exception as error:
        answer["answer"] = {"refused": {"type": type(error).__name__, "message": str(error)}}
    print(json.dumps(answer), flush=True)
"""
"""A child that speaks the protocol and has no Keras, where it is the parent that is looked at."""

DIES_WITH_ITS_PARENT = "import ctypes; ctypes.CDLL(None).prctl(1, 9)\n"

INPUTS = ({"shape": [3], "dtype": "float32", "fill": "normal"},)
MIB = 1 << 20


def fake(**limits: int) -> SubjectProcess:
    command = [sys.executable, "-u", "-c", FAKE]
    return SubjectProcess(Subject("keras"), limits=Limits(**limits), started_by=command)


def plain(source: str = "") -> Case:
    return Case(source, ())


def case(extra: str = "") -> Case:
    return Case(GOOD + textwrap.dedent(extra), INPUTS)


@pytest.fixture(scope="module")
def warm() -> Iterator[SubjectProcess]:
    with SubjectProcess(Subject("keras"), limits=Limits()) as process:
        yield process


def test_says_what_it_is_and_how_long_it_took(warm: SubjectProcess) -> None:
    assert warm.ready.generation == "keras"
    assert warm.ready.backend == "tensorflow"
    assert warm.ready.seconds["spawn"] >= warm.ready.seconds["import"] > 0


def test_answers_a_trial_and_the_values_behind_its_digests(warm: SubjectProcess) -> None:
    answer = warm.trial(case(), cloners=["upstream", "fixed"])
    assert isinstance(answer, Answer)
    assert set(answer.clones) == {"upstream", "fixed"}
    assert answer.original is not None
    weights = answer.original.copied_weights
    (same,), (gone,) = warm.values([(weights[0], weights[0])]), warm.values([("no", "such")])
    assert same.count == 0
    assert gone.missing == ("no", "such")


def test_a_model_that_cannot_be_built_is_refused(warm: SubjectProcess) -> None:
    answer = warm.trial(case("raise ValueError('no')"), cloners=["upstream"])
    assert isinstance(answer, Answer)
    assert answer.refused is not None
    assert answer.refused.message == "no"


def test_a_request_that_the_child_cannot_answer_is_our_own_fault(warm: SubjectProcess) -> None:
    with pytest.raises(SubjectError, match="refused a trial: KeyError: .*unknown cloner 'nobody'"):
        warm.trial(case(), cloners=["nobody"])
    assert isinstance(warm.trial(case(), cloners=[]), Answer)


def test_what_a_graph_prints_is_no_reply(warm: SubjectProcess) -> None:
    noisy = """
    import os
    print('{"id": 1, "answer": {}}')
    for _ in range(2000):
        os.write(2, b"x" * 1000)
    """
    assert isinstance(warm.trial(case(noisy), cloners=["upstream"]), Answer)


def test_an_abort_is_an_outcome_and_the_next_trial_finds_a_new_process(warm: SubjectProcess) -> None:
    before, restarts = warm.pid, warm.restarts
    outcome = warm.trial(case("import os\ndef stop():\n    os.abort()\nstop()"), cloners=[])
    assert isinstance(outcome, Lost)
    assert outcome.how == "SIGABRT"
    assert [frame.function for frame in outcome.frames][-2:] == ["<module>", "stop"]
    assert any("Fatal Python error: Aborted" in line for line in outcome.stderr)
    assert isinstance(warm.trial(case(), cloners=["upstream"]), Answer)
    assert warm.restarts == restarts + 1
    assert warm.losses["a trial"] >= 1
    assert warm.pid != before


def test_an_exit_has_its_code() -> None:
    with fake() as process:
        outcome = process.trial(plain("import os\nos._exit(7)"), cloners=[])
    assert isinstance(outcome, Lost)
    assert outcome.how == "exit code 7"


def test_a_hang_times_out_and_says_where(warm: SubjectProcess) -> None:
    source = "def spin():\n    while True:\n        pass\nspin()"
    for limit in (2, 60):  # a machine so busy that it does not get there in two seconds gets there in a minute
        warm.start()
        outcome = warm.trial(plain(source), cloners=[], timeout=limit)
        assert isinstance(outcome, Lost)
        if outcome.frames[-1].function == "spin":
            break
    assert outcome.frames[-1].function == "spin"


def test_memory_without_end_is_stopped_at_the_limit() -> None:
    with fake(memory=400 * MIB) as process:
        outcome = process.trial(plain("held = []\nwhile True:\n    held.append(b'x' * 50_000_000)"), cloners=[])
    assert isinstance(outcome, Lost)
    assert outcome.how == Loss.OUT_OF_MEMORY
    resident, limit = map(int, re.fullmatch(r"(\d+) MiB of (\d+) MiB", outcome.message).groups())  # type: ignore[union-attr]
    assert 400 == limit < resident < 2 * limit


def test_nothing_that_a_trial_started_is_left_behind(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    source = f"""
    import os, subprocess
    child = subprocess.Popen(["sleep", "600"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    open({str(note)!r}, "w").write(str(child.pid))
    os.abort()
    """
    with fake() as process:
        assert isinstance(process.trial(plain(textwrap.dedent(source)), cloners=[]), Lost)
    until(lambda: _gone(int(note.read_text())))


def test_a_child_is_there_for_a_thread_that_ends_after_the_main_one() -> None:
    program = f"""
import threading
from clonediff.harness.subjects import Case, Subject, SubjectProcess
command = {[sys.executable, "-u", "-c", DIES_WITH_ITS_PARENT + FAKE]!r}
process = SubjectProcess(Subject("keras"), started_by=command)
process.trial(Case("", ()), cloners=())
def late():
    threading.main_thread().join()
    for its in (process, SubjectProcess(Subject("keras"), started_by=command)):
        print(type(its.trial(Case("", ()), cloners=())).__name__, its.restarts)
threading.Thread(target=late).start()
"""
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout == "Answer 0\nAnswer 0\n", done.stderr


def test_a_parent_that_is_killed_leaves_no_process(tmp_path: Path) -> None:
    began = tmp_path / "began"
    program = f"""
from clonediff.harness.subjects import Case, Subject, SubjectProcess
process = SubjectProcess(Subject("keras"))
process.start()
print(process.pid, flush=True)
process.trial(Case("open({str(began)!r}, 'w')\\nwhile True: pass", ()), cloners=["upstream"], timeout=300)
"""
    root = Path(__file__).resolve().parents[2]
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, cwd=root, text=True)
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    until(began.exists, parent)
    parent.kill()
    parent.wait()
    parent.stdout.close()
    until(lambda: _gone(pid))


def test_is_replaced_after_so_many_trials() -> None:
    with fake(trials=2) as process:
        pids = []
        for _ in range(3):
            assert isinstance(process.trial(plain(), cloners=[]), Answer)
            pids.append(process.pid)
        assert pids[0] == pids[1] != pids[2]
        assert (process.recycled, process.restarts) == (1, 0)


def test_is_replaced_when_it_has_grown() -> None:
    with fake(recycle=MIB) as process:
        process.trial(plain(), cloners=[])
        first = process.pid
        process.trial(plain(), cloners=[])
        assert process.pid != first
        assert process.recycled == 1


def test_one_that_died_between_two_trials_is_replaced() -> None:
    with fake() as process:
        assert process.pid is not None
        process.trial(plain(), cloners=[])
        pid = process.pid
        os.kill(pid, signal.SIGKILL)
        until(lambda: _gone(pid))
        assert isinstance(process.trial(plain(), cloners=[]), Answer)
        assert dict(process.losses) == {"nothing that it was asked": 1}


def test_closing_ends_it_at_once_and_removes_its_folder() -> None:
    process = fake()
    process.start()
    pid = process.pid
    assert pid is not None
    folder = Path(os.readlink(f"/proc/{pid}/cwd"))
    process.close()
    process.close()
    until(lambda: _gone(pid))
    assert not folder.exists()


@pytest.mark.parametrize("end", ["closed", "killed"])
def test_its_temporary_files_are_in_its_own_folder_and_go_with_it(end: str) -> None:
    leaves = (
        "import os, tempfile\nraise ValueError(tempfile.mkstemp()[1] + ' ' + os.environ['TMPDIR'] + ' ' + os.getcwd())"
    )
    with fake() as process, fake() as other:
        answers = [each.trial(plain(leaves), cloners=[]) for each in (process, other)]
        said = [each.refused.message.split() for each in answers if isinstance(each, Answer) and each.refused]
        (file, folder, works_in), (_, another, _) = said
        assert folder == works_in != another
        assert Path(file).parent == Path(folder)
        assert Path(file).is_file()
        if end == "closed":
            process.close()
        else:
            assert isinstance(process.trial(plain("import os\nos.abort()"), cloners=[]), Lost)
        assert not Path(folder).exists()
        assert Path(another).exists()


@pytest.mark.parametrize(
    ("program", "says"),
    [
        (
            "import sys; sys.stderr.write('no such thing\\n'); sys.exit(3)",
            r"exit code 3\).*; the last line that it wrote: no such thing$",
        ),
        ("import os; os.abort()", "ended while it started .SIGABRT"),
        ("import sys; sys.stdin.read()", "not ready after 1 s"),
        ('print(\'{"broken": {"type": "ImportError", "message": "no keras"}}\')', "ImportError: no keras"),
        ("print('{\"classes\": []}')", "says neither `ready` nor `broken`"),
        ('print(\'{"ready": {"generation": 3}}\')', "not what the protocol says: .*generation"),
    ],
    ids=["exit", "abort", "hang", "broken", "other", "wrong"],
)
def test_a_child_that_does_not_come_up(program: str, says: str) -> None:
    limits = Limits(start=1 if "not ready" in says else PATIENCE)
    process = SubjectProcess(Subject("keras"), limits=limits, started_by=[sys.executable, "-u", "-c", program])
    with pytest.raises(SubjectError, match=says):
        process.start()
    assert process.pid is None or not psutil.pid_exists(process.pid)


def test_an_interpreter_that_is_not_there() -> None:
    with pytest.raises(SubjectError, match="/no/python cannot be started"):
        SubjectProcess(Subject("keras"), started_by=["/no/python"]).start()


def _gone(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


WRITTEN = "import sys\nsys.stdout.buffer.write({} + b'\\n')\nsys.stdout.flush()\n"
DEEP = """b'{"x":' + b'[' * 100_000"""


@pytest.mark.parametrize("line", [r"""b'{"id": "\xff"}'""", DEEP], ids=["no text", "too deep"])
def test_a_line_that_is_no_reply_is_passed_over(line: str) -> None:
    with fake() as process:
        assert isinstance(process.trial(plain(WRITTEN.format(line)), cloners=()), Answer)


def test_a_line_before_the_first_message_is_passed_over() -> None:
    with SubjectProcess(Subject("keras"), started_by=[sys.executable, "-c", WRITTEN.format(DEEP) + FAKE]) as process:
        assert process.ready.backend == "none"


ERROR = r"""b'{"id": 1, "error": {"type": "\xff", "message": ""}}'"""


def test_a_reply_that_is_no_text_is_an_error_of_the_subject() -> None:
    said = r"^keras: its reply is not what the protocol says: .*0xff"
    with fake() as process, pytest.raises(SubjectError, match=said):
        process.trial(plain(WRITTEN.format(ERROR)), cloners=())
    broken = ERROR.replace('"error"', '"broken"')
    first = SubjectProcess(Subject("keras"), started_by=[sys.executable, "-c", WRITTEN.format(broken)])
    with pytest.raises(SubjectError, match=said):
        first.start()
