"""Records on disk: written whole, read back the same, and told by file and field where they are wrong."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from clonediff.reports.records import Difference, Finding, Place, RecordError, Run, Severity, read, write, write_bytes

FINDING = Finding(
    id="masks-mask-lost-lambda-1234",
    title="Lambda: mask lost",
    generation="keras",
    cloner="upstream",
    graph=msgspec.Raw(b'{"inputs":[]}'),
    differences=(
        Difference("masks", "p", "mask lost", "a mask", "no mask", Severity.PROPERTY, Place("l", "Lambda", 1)),
    ),
    source="model = 1",
    versions={"keras": "3.15.1"},
)


def test_a_record_is_read_back_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "finding.json"
    write(path, FINDING)
    back = read(path, Finding)
    assert msgspec.json.decode(back.graph) == {"inputs": []}
    assert msgspec.structs.replace(back, graph=FINDING.graph) == FINDING
    assert list(path.parent.iterdir()) == [path]


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run.json"
    write(path, Run(started="then"))
    monkeypatch.setattr(os, "replace", _fails)
    with pytest.raises(OSError, match="disk"):
        write(path, Run(started="now"))
    assert read(path, Run).started == "then"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ('{"started": 3}', "Expected `str`, got `int` - at `$.started`"),
        ("{}", "missing required field `started`"),
        ('{"started": "x", "format": 99}', "format 99 at `$.format`, but this clonediff reads up to 1"),
        ('{"started": ', "truncated"),
        ('{"started": "\udcff"}', "can't decode byte 0xff"),
        ('{"started": "x", "other": ' + "[" * 100_000, "nested too deep"),
    ],
    ids=["type", "missing", "format", "cut", "no text", "deep"],
)
def test_a_wrong_file_is_told_by_name_and_field(tmp_path: Path, content: str, says: str) -> None:
    path = tmp_path / "run.json"
    path.write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(RecordError) as caught:
        read(path, Run)
    assert str(caught.value).startswith(f"{path}: ")
    assert says in str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="cannot be read"):
        read(tmp_path / "run.json", Run)


def _fails(*_: object) -> None:
    raise OSError("disk is full")


def test_a_pipe_is_written_to_and_stays_one(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_bytes(pipe, b"content")
        assert os.read(reader, 100) == b"content"
    finally:
        os.close(reader)
    assert pipe.is_fifo()
