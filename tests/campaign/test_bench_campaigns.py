"""Trials a second of a campaign, once it is warm."""

from __future__ import annotations

import json
import signal
import sys
from datetime import UTC, datetime
from pathlib import Path

import psutil
import pytest
from click.testing import CliRunner

from clonediff.harness.campaign import bench_campaigns
from clonediff.harness.campaign.bench_campaigns import rate, trials_of
from clonediff.harness.cli import cli
from tests.waiting import until

COUNTING = """
import json, os, signal, sys
from datetime import UTC, datetime
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background of a shell begins by ignoring it
os.makedirs(sys.argv[1])
file = open(sys.argv[1] + "/events.ndjson", "a")
numbers = iter(range(1, 10_000))

def tell(*_, **event):
    event = event or {"event": "progress", "trials": next(numbers)}
    file.write(json.dumps({"at": datetime.now(UTC).isoformat(), **event}) + "\\n")
    file.flush()

signal.signal(signal.SIGUSR1, tell)
tell(event="subject", versions={})
tell()
while True:
    signal.pause()
"""
"""It tells of one more trial whenever it gets a signal."""

HANGING = """
import json, os, signal, subprocess, sys, time
from datetime import UTC, datetime
signal.signal(signal.SIGINT, signal.SIG_IGN)
os.makedirs(sys.argv[1])
below = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"], start_new_session=True)
with open(sys.argv[1] + "/events.ndjson", "a") as file:
    told = {"at": datetime.now(UTC).isoformat(), "event": "progress", "trials": below.pid}
    file.write(json.dumps(told) + "\\n")
below.wait()
"""
"""It heeds no interrupt, and tells of as many trials as the number of the process that it has started."""


def quiet(line: str) -> None:
    """Say nothing."""


def test_a_rate_is_that_from_one_number_of_trials_to_another() -> None:
    progress = ((at, trials) for at, trials in [(0.0, 5), (10.0, 20), (11.0, 25), (14.0, 60), (99.0, 70)])
    assert rate("counting", progress, (20, 50), quiet) == pytest.approx(40 / 4.0)
    with pytest.raises(RuntimeError, match="counting ended before it had made 50 trials"):
        rate("counting", (each for each in [(0.0, 5)]), (20, 50), quiet)


def test_a_campaign_is_read_as_it_goes_and_ended(tmp_path: Path) -> None:
    script = tmp_path / "counting.py"
    script.write_text(COUNTING)
    progress = trials_of([sys.executable, str(script), str(tmp_path / "run")])
    before = datetime.now(UTC).timestamp()
    at, trials = next(progress)
    assert before < at
    (its,) = [each for each in psutil.Process().children() if str(script) in each.cmdline()]
    its.send_signal(signal.SIGUSR1)
    assert next(progress)[1] > trials > 0
    progress.close()
    assert not its.is_running()
    assert json.loads((tmp_path / "run" / "events.ndjson").read_text().splitlines()[0])["event"] == "subject"


def test_a_campaign_that_hangs_is_killed_with_all_that_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench_campaigns, "ENDING", 0.5)
    script = tmp_path / "hanging.py"
    script.write_text(HANGING)
    progress = trials_of([sys.executable, str(script), str(tmp_path / "run")])
    _, pid = next(progress)
    below = psutil.Process(pid)
    (its,) = [each for each in psutil.Process().children() if str(script) in each.cmdline()]
    progress.close()
    assert not its.is_running()
    until(lambda: not _runs(below))


def _runs(process: psutil.Process) -> bool:
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def test_what_ends_by_itself_is_told(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import sys; sys.exit('no such Keras')", str(tmp_path)]
    with pytest.raises(RuntimeError, match="ended with exit code 1: no such Keras"):
        next(trials_of(command))


def test_too_few_trials_to_tell_are_refused() -> None:
    done = CliRunner().invoke(cli, ["bench", "--jobs", "2", "--trials", "100"])
    assert done.exit_code == 2
    assert "expected at least 400, found 100" in done.stderr
