"""Turns of seconds, in which only one of those that are timed against each other runs."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from pathlib import Path

import psutil
import pytest
from click.testing import CliRunner

from clonediff.harness.campaign import bench_campaigns
from clonediff.harness.cli import cli
from tests.waiting import PATIENCE, until

EVERY = 0.02
COUNTING = f"""
import json, subprocess, sys, threading
from datetime import UTC, datetime
if len(sys.argv) < 3:  # as a campaign does, it leaves the work to another process
    sys.exit(subprocess.run([sys.executable, __file__, sys.argv[1], "below"]).returncode)
for number in range(1, 10_000):
    threading.Event().wait({EVERY})
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
    monkeypatch.setattr(bench_campaigns, "TURN", 0.4)
    with bench_campaigns._running("counting", (20, 60), tmp_path, counting) as runner:
        while not runner.over():
            runner.turn()
            its = psutil.Process(runner.process.pid)
            below = its.children(recursive=True)
            until(lambda its=(its, *below): {each.status() for each in its} == {psutil.STATUS_STOPPED})
        assert below
        assert 0 < runner.rate() <= 1.05 / EVERY
    _, alive = psutil.wait_procs(below, timeout=PATIENCE)
    assert not alive


def test_the_time_that_it_stood_still_is_not_its_own(tmp_path: Path) -> None:
    marks = [(100.0, 20), (101.0, 30), (111.0, 40)]  # ten seconds passed between its turns
    lines = [{"at": datetime.fromtimestamp(at, UTC).isoformat(), "event": "progress", "trials": n} for at, n in marks]
    (tmp_path / "events.ndjson").write_text("".join(json.dumps(each) + "\n" for each in lines))
    with bench_campaigns._running("counting", (20, 40), tmp_path, [sys.executable, "-c", ""]) as runner:
        runner.turns = [(99.0, 101.5), (110.5, 112.0)]
        assert runner.rate() == pytest.approx(20 / 2.0)


def test_what_ends_by_itself_is_told(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import sys; sys.exit('no such Keras')"]
    said = "one job ended with exit code 1: no such Keras"
    with (
        bench_campaigns._running("one job", (20, 60), tmp_path, command) as runner,
        pytest.raises(RuntimeError, match=said),
    ):
        runner.turn()


def test_too_few_trials_to_tell_are_refused() -> None:
    done = CliRunner().invoke(cli, ["bench", "--jobs", "2", "--trials", "100"])
    assert done.exit_code == 2
    assert "expected at least 400, found 100" in done.stderr
