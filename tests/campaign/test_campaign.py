"""Campaigns with a real Keras: findings survive interrupts, kills and failed subjects."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
from pathlib import Path

import psutil
import pytest

from clonediff.reports.run_folder import read_run
from tests.helpers.campaigns import HIDDEN_ISSUE, add_hidden_issue, findings, fuzz, hide_issues, processes, summary
from tests.helpers.command_line import imported_modules, interrupt, start_clonediff
from tests.helpers.example_graphs import KNOWN
from tests.helpers.waiting import PATIENCE, wait_until
from tests.planted import cloner_of

FINGERPRINT = str(KNOWN.get(HIDDEN_ISSUE).fingerprint)
TRIALS = ("--trials", "3")
CHILD_COMMAND = "from clonediff.harness.server.serve import main"


@pytest.fixture(scope="module")
def known_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return hide_issues(tmp_path_factory.mktemp("known"), HIDDEN_ISSUE)


@pytest.fixture(scope="module")
def full_run(known_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An undisturbed run with one job."""
    folder = add_hidden_issue(tmp_path_factory.mktemp("full"))
    options = [option for option in _options(known_folder) if option != "--json"]
    result = fuzz(folder, *options, *TRIALS, "--jobs", "1")
    assert result.returncode == 1, result.stderr
    return folder / "run"


def _options(known_folder: Path, out: str = "run") -> list[str]:
    return ["--known-issues", str(known_folder), "--out", out, "--json"]


def test_a_finding_is_confirmed_and_has_a_script_an_issue_and_pictures(full_run: Path) -> None:
    read_back = read_run(full_run)
    assert read_back.problems == ()
    (stored,) = (stored for stored in read_back.findings if stored.finding.id == FINGERPRINT)
    finding = stored.finding
    assert finding.proof and finding.smallest and finding.first_seen >= read_back.run.started
    assert (finding.subject, finding.cloner, finding.blame) == ("keras", "upstream", "upstream bug")
    assert finding.versions == read_back.run.versions["keras"] != {}
    assert finding.id.startswith(finding.differences[0].check) and f"# {finding.title}\n" in stored.issue
    assert stored.issue and stored.script
    assert read_back.run.ended
    assert read_back.run.total.graphs == 4
    assert read_back.run.total.known and read_back.run.total.worst["upstream"]
    original, clone = stored.finding.pictures
    assert {box.call for box in original} == {box.call for box in clone}
    assert "<svg" in (full_run / "report.html").read_text()


@pytest.mark.slow(reason="two campaigns; the test below checks that an interrupted one keeps its findings")
def test_the_findings_of_a_killed_campaign_are_kept_for_the_next_run(known_folder: Path, tmp_path: Path) -> None:
    run, folder = tmp_path / "run", add_hidden_issue(tmp_path)
    with start_clonediff("fuzz", *_options(known_folder), *TRIALS, "--jobs", "1", cwd=folder) as process:
        wait_until(lambda: _finding_paths(run), process)
        children = processes(process.pid)
        process.kill()
        process.wait()
    _, alive = psutil.wait_procs(children, timeout=PATIENCE)
    assert alive == []
    read_back = read_run(run)
    assert read_back.problems in ((), ("run.json: cannot be read (No such file or directory)",))
    assert all(stored.script for stored in read_back.findings)
    result = fuzz(tmp_path, "--trials", "1", "--known-issues", str(known_folder), "--out", "next", "--json")
    assert {row["id"] for row in summary(result)["findings"]} >= {stored.finding.id for stored in read_back.findings}


def test_an_interrupted_run_keeps_findings_and_leaves_no_process_or_file(known_folder: Path, tmp_path: Path) -> None:
    run, temporary = tmp_path / "run", tmp_path / "temporary"
    temporary.mkdir()
    options = (*_options(known_folder), "--minutes", "30", "--jobs", "1")
    with start_clonediff("fuzz", *options, TMPDIR=str(temporary), cwd=add_hidden_issue(tmp_path)) as process:
        wait_until(lambda: _finding_paths(run), process)
        children = processes(process.pid)
        connections = [connection for child in children for connection in child.net_connections("inet")]
        stdout, stderr = interrupt(process)
    assert process.returncode == 130, stderr
    assert psutil.wait_procs(children, timeout=PATIENCE)[1] == []
    assert [connection for connection in connections if connection.status == psutil.CONN_LISTEN] == []
    read_back = read_run(run)
    assert read_back.run.interrupted
    assert read_back.run.total.graphs == json.loads(stdout)["graphs"] > 0
    assert not any(stored.finding.smallest for stored in read_back.findings), "there was no time to reduce the graph"
    assert (tmp_path / "corpus" / "keras" / f"keras-upstream-{FINGERPRINT}.json").exists()
    assert (run / "report.html").exists()
    assert list(temporary.iterdir()) == []


KILLS = [
    (victim, signum, phase, turn)
    for turn in range(2)
    for victim in ("driver", "subject")
    for signum in (signal.SIGKILL, signal.SIGTERM)
    for phase in ("starting", "drawing", "finding")
]


@pytest.mark.slow(reason="two dozen campaigns, in each of which a process is killed")
@pytest.mark.parametrize(("victim", "signum", "phase", "turn"), KILLS, ids=lambda value: getattr(value, "name", value))
def test_no_finding_is_lost_when_a_process_is_killed(
    victim: str, signum: signal.Signals, phase: str, turn: int, full_run: Path, known_folder: Path, tmp_path: Path
) -> None:
    run, temporary = tmp_path / "run", tmp_path / "temporary"
    temporary.mkdir()
    options = (*_options(known_folder), *TRIALS, "--jobs", "2")
    conditions = {
        "starting": lambda: processes(process.pid, CHILD_COMMAND),
        "drawing": lambda: (run / "run.json").exists() and processes(process.pid, CHILD_COMMAND),
        "finding": lambda: _finding_paths(run) and processes(process.pid, CHILD_COMMAND),
    }
    with start_clonediff("fuzz", *options, TMPDIR=str(temporary), cwd=add_hidden_issue(tmp_path)) as process:
        wait_until(conditions[phase], process)
        threading.Event().wait(random.Random(f"{victim} {signum} {phase} {turn}").uniform(0, 2))
        found, children = _finding_paths(run), processes(process.pid)
        os.kill(process.pid if victim == "driver" else processes(process.pid, CHILD_COMMAND)[0].pid, signum)
        _, stderr = process.communicate(timeout=PATIENCE)
    assert psutil.wait_procs(children, timeout=PATIENCE)[1] == []
    assert process.returncode == (1 if victim == "subject" else -9 if signum is signal.SIGKILL else 130), stderr
    assert all(path.exists() for path in found)
    if (victim, phase) == ("subject", "finding"):
        assert findings(run) == findings(full_run)
    if process.returncode >= 0:
        assert (run / "report.html").exists() and read_run(run).problems == ()
    else:
        clean_up = "from clonediff.harness.subjects.child import scratch_folder; scratch_folder()"
        subprocess.run([sys.executable, "-c", clean_up], env={**os.environ, "TMPDIR": str(temporary)}, check=True)
    assert list(temporary.iterdir()) == []


@pytest.mark.no_keras
def test_a_local_run_imports_no_dask() -> None:
    assert not {"dask", "distributed"} & imported_modules("fuzz", "--subject", "nothing-of-the-kind")


REFUSING_LAYER = """
import sys

import keras

class Odd(keras.layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        frame = sys._getframe()
        while frame := frame.f_back:
            if frame.f_code.co_filename.endswith("inside/trial.py"):  # this graph is being tried, not drawn
                why = "Exception encountered when calling Odd.call().\\n\\nno units=-1.5e3 for 'odd_3', shape=(None, 3)"
                raise ValueError(why + 1000 * " no")

    def call(self, x):
        return 2.0 * x
"""
FLAKY_CLONER = """
import clonediff

broken = False

def clone(model):
    global broken
    copy = clonediff.clone_model(model)
    if not broken and copy.layers and copy.layers[-1].trainable:
        broken = True
        copy.layers[-1].trainable = False
    return copy
"""


def test_lost_subjects_and_flaky_causes_do_not_end_a_campaign(tmp_path: Path) -> None:
    source = tmp_path / "gone" / "keras" / "src"
    (source / "models").mkdir(parents=True)
    (source / "models" / "cloning.py").touch()
    (source / "version.py").write_text('__version__ = "3.99.0"\n')
    (source.parent / "__init__.py").write_text("import os\nos._exit(3)\n")
    (tmp_path / "odd.py").write_text(REFUSING_LAYER)
    (tmp_path / "once.py").write_text(FLAKY_CLONER)
    options = ("--subject", "keras", "--subject", "./gone", "--layers", "odd.py:Odd", "--cloner", "once.py:clone")
    result = fuzz(tmp_path, *options, "--trials", "12", "--jobs", "1", "--out", "run", "--json")
    read_back = read_run(tmp_path / "run")
    run = read_back.run
    ((subject, lost),) = run.lost.items()
    flaky = "keras: A trainable layer is frozen in the clone"
    assert result.returncode == 1, "too many models are refused; a lost subject is only a warning"
    assert lost == f"{subject}: does not start: exit code 3"
    assert run.flaky == [flaky]
    assert result.stderr.splitlines()[-2:] == [
        f"clonediff: {lost}",
        f"clonediff: not counted, since it did not show again: {flaky}",
    ]
    (reason,) = run.counts["keras"].refused
    assert reason.startswith("ValueError: no units=… for …, shape=… no no") and len(reason) <= 200
    assert [path.name.rpartition("-")[0] for path in (tmp_path / "run/refused").iterdir()] == ["keras-ValueError"]
    assert run.total.graphs == 12
    assert (read_back.problems, read_back.findings, summary(result)["findings"]) == ((), (), [])
    assert not list((tmp_path / "corpus").rglob("*.json"))


def _finding_paths(run: Path) -> list[Path]:
    return list(run.glob("findings/*/finding.json"))


@pytest.mark.slow(reason="Keras starts again after each graph that aborts, also while a graph is reduced")
def test_a_graph_that_kills_its_subject_is_one_finding(tmp_path: Path) -> None:
    aborts = cloner_of("aborts")
    result = summary(fuzz(tmp_path, "--trials", "12", "--cloner", "fixed", "--cloner", aborts, "--seed", "2", "--json"))
    (finding,) = [found for found in result["findings"] if "sigabrt" in found["id"]]
    verdicts = result["run"]["counts"]["keras"]["verdicts"]
    assert finding["cloner"] == aborts
    assert verdicts["fixed"] == {"faithful": 12}
    assert verdicts[aborts]["killed its process"] == finding["count"]
