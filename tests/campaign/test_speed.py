"""Turns of seconds, in which only one of those that are timed against each other runs."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import psutil
import pytest
from click.testing import CliRunner

from harness.campaign import speed
from harness.cli import cli

EVERY = 0.02
COUNTING = f"""
import json, subprocess, sys, time
from datetime import UTC, datetime
if len(sys.argv) < 3:  # as a campaign does, it leaves the work to another process
    sys.exit(subprocess.run([sys.executable, __file__, sys.argv[1], "below"]).returncode)
for number in range(1, 10_000):
    time.sleep({EVERY})
    with open(sys.argv[1], "a") as file:
        file.write(json.dumps({{"at": datetime.now(UTC).isoformat(), "event": "progress", "trials": number}}) + "\\n")
"""


@pytest.fixture
def counting(tmp_path: Path) -> list[str]:
    """The command of something that counts, with each number as an event."""
    script = tmp_path / "counting.py"
    script.write_text(COUNTING)
    return [sys.executable, str(script), str(tmp_path / "events.ndjson")]


def test_what_is_not_its_turn_stands_still(
    counting: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(speed, "TURN", 0.4)
    with speed._running("counting", (20, 60), tmp_path, counting) as runner:
        while not runner.over():
            runner.turn()
            stopped = runner.trials()
            time.sleep(0.4)
            assert runner.trials() == stopped
        below = psutil.Process(runner.process.pid).children(recursive=True)
        assert below
        rate = runner.rate()
    assert 0.3 / EVERY < rate <= 1.05 / EVERY, "half of the time it stood still, which does not count"
    _, alive = psutil.wait_procs(below, timeout=10)
    assert not alive


def test_what_ends_by_itself_is_told(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import sys; sys.exit('no such Keras')"]
    said = "one job ended with exit code 1: no such Keras"
    with speed._running("one job", (20, 60), tmp_path, command) as runner, pytest.raises(RuntimeError, match=said):
        runner.turn()


def test_too_few_trials_to_tell_are_refused() -> None:
    done = CliRunner().invoke(cli, ["bench", "--jobs", "2", "--trials", "100"])
    assert done.exit_code == 2
    assert "expected at least 400, found 100" in done.stderr
