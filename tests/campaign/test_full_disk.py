"""A disk that is full while a campaign writes: a clear error, and every earlier file whole."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from clonediff.reports.records import Finding, Run, read
from tests.campaign.running import fuzz


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A disk of 320 kB."""
    folder = tmp_path / "small"
    folder.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=320k", "tmpfs", str(folder)], capture_output=True, text=True, check=False
    )
    if made.returncode:
        pytest.skip(reason=f"cannot mount a small disk here: {made.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.slow(reason="a campaign has to find and write enough to fill a disk")
def test_a_full_disk_is_a_line_and_what_was_written_is_whole(small: Path, tmp_path: Path) -> None:
    nothing = tmp_path / "nothing"
    nothing.mkdir()
    filler = small / "filler"
    filler.write_bytes(bytes(200_000))
    out = small / "run"
    asked = ("--trials", "120", "--known-issues", str(nothing), "--out", str(out), "--jobs", "1")
    done = fuzz(tmp_path, *asked, "--corpus", str(tmp_path / "corpus"))
    assert done.returncode == 2, done.stderr
    assert "No space left on device" in done.stderr
    assert str(out) in done.stderr, "it names the file"
    assert "Traceback" not in done.stderr
    read(out / "run.json", Run)
    for folder in (out / "findings").glob("*"):
        read(folder / "finding.json", Finding)
    assert not list(out.rglob(".*.????????")), "half a file was left behind"
