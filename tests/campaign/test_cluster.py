"""Campaigns on a Dask cluster."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from clonediff.reports.run_folder import read_run
from tests.campaign.simulated import simulate
from tests.helpers.campaigns import HIDDEN_ISSUE, add_hidden_issue, findings, fuzz, hide_issues, processes, summary
from tests.helpers.command_line import start_clonediff
from tests.helpers.waiting import PATIENCE, wait_until

DASK = [sys.executable, "-m", "dask"]
OPTIONS = ("--trials", "6", "--json")
VICTIMS = {"scheduler": " dask scheduler ", "worker": "spawn_main"}


@pytest.mark.slow(reason="it starts a cluster and runs two campaigns")
def test_a_cluster_has_the_same_findings_as_a_local_run(tmp_path: Path) -> None:
    local, remote = tmp_path / "local", tmp_path / "remote"
    local.mkdir()
    remote.mkdir()
    known_folder = hide_issues(tmp_path, HIDDEN_ISSUE)
    options = ("--trials", "30", "--known-issues", str(known_folder), "--json", "--out", "run")
    assert summary(fuzz(add_hidden_issue(local), *options, "--jobs", "1"))["findings"]
    before = _subjects()  # subjects of other tests
    with _cluster(tmp_path) as address:
        first = summary(fuzz(add_hidden_issue(remote), *options, "--scheduler", address))
        second = summary(fuzz(remote, "--trials", "3", "--json", "--out", "second", "--scheduler", address))
        assert _subjects() <= before, "the subjects end with the campaign, but the workers keep running"
    assert first["findings"]
    assert second["graphs"] >= 3
    assert findings(local / "run") == findings(remote / "run")


@pytest.mark.no_keras
def test_a_missing_scheduler_is_reported_without_a_traceback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
        monkeypatch.setenv("CLONEDIFF_WAIT", "2")
        result = fuzz(tmp_path, *OPTIONS, "--scheduler", address)
    assert result.returncode == 2
    assert f"{address}: no Dask scheduler with a worker answers" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.slow(reason="it starts a cluster and runs a campaign")
@pytest.mark.parametrize(
    ("victim", "code", "budget"),
    [
        pytest.param("scheduler", 2, ("--minutes", "600"), id="scheduler"),  # it cannot end before the scheduler dies
        pytest.param("worker", 0, ("--trials", "120"), id="worker"),
    ],
)
def test_results_are_kept_when_a_scheduler_or_a_worker_dies(
    victim: str, code: int, budget: tuple[str, str], tmp_path: Path
) -> None:
    run = tmp_path / "run"
    with _cluster(tmp_path) as address:
        options = (*budget, "--cloner", "fixed", "--out", "run", "--scheduler", address)
        with start_clonediff("fuzz", *options, cwd=tmp_path) as process:
            wait_until((run / "run.json").exists, process)
            killed = [child for child in processes(os.getpid(), VICTIMS[victim]) if _is_dask(child)][:1]
            for child in killed:
                child.kill()
            stdout, stderr = process.communicate(timeout=PATIENCE)
    assert killed
    assert process.returncode == code, stderr
    assert "Traceback" not in stderr
    assert ("not done: the scheduler is gone" in stdout) == (victim == "scheduler")
    record = read_run(run).run
    assert record.ended
    assert record.total.graphs == 120 or victim == "scheduler"
    assert (run / "report.html").exists()


@pytest.mark.slow(reason="a campaign of two minutes on a thousand simulated workers")
def test_the_driver_of_a_thousand_workers_takes_at_most_half_a_core(tmp_path: Path) -> None:
    load = simulate(1000, 2.0, tmp_path)
    assert (load.jobs, load.repeated_reductions) == (1000, 0)
    assert load.causes > 50
    assert load.cores < 0.5


def _is_dask(process: psutil.Process) -> bool:
    """Whether a process belongs to a scheduler or a worker."""
    with suppress(psutil.Error):
        return " dask " in " ".join((*process.cmdline(), *process.parent().cmdline()))
    return False


@contextmanager
def _cluster(folder: Path) -> Iterator[str]:
    """Start a scheduler and two workers from the command line."""
    file = folder / "scheduler.json"
    with ExitStack() as stack:

        def start(*arguments: str) -> None:
            command, quiet = [*DASK, *arguments, "--host", "127.0.0.1", "--no-dashboard"], subprocess.DEVNULL
            process = stack.enter_context(subprocess.Popen(command, stdout=quiet, stderr=quiet, cwd=folder))
            stack.callback(process.terminate)

        start("scheduler", "--port", "0", "--scheduler-file", str(file))
        wait_until(file.exists)
        address = re.search(r"tcp://[\d.:]+", file.read_text())
        assert address
        start("worker", address[0], "--nthreads", "1", "--nworkers", "2", "--local-directory", str(folder))
        yield address[0]


def _subjects() -> set[psutil.Process]:
    return set(processes(os.getpid(), "from clonediff.harness.server.serve import main"))
