"""What a worker answers, whatever happens to it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.campaign import held, tasks
from harness.campaign.shards import Setup, Shard

NAME = "test-tasks"


@pytest.fixture
def nowhere(tmp_path: Path) -> Iterator[Path]:
    """A campaign whose journals cannot be written: there is a file where their folder should be."""
    path = tmp_path / "journal"
    path.write_text("in the way")
    held.prepare(Setup(NAME, ("upstream",), 0, journals=str(path)))
    try:
        yield path
    finally:
        held.close(NAME)


def test_a_file_that_cannot_be_written_is_an_answer_that_names_it(nowhere: Path) -> None:
    done = tasks.try_shard(NAME, Shard("keras", 0, 1, 3))
    assert isinstance(done, tasks.Denied)
    error = done.error()
    assert isinstance(error, NotADirectoryError)
    assert str(nowhere) in str(error)
