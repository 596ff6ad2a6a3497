"""What a worker answers, whatever happens to it."""

from __future__ import annotations

import functools
import sys

import pytest

from clonediff.harness.campaign import tasks, warm_subjects
from clonediff.harness.campaign.shards import Setup, Shard
from clonediff.harness.subjects.process import SubjectProcess
from tests.subjects.test_process import FAKE

NAME = "test-tasks"


def test_a_fault_of_ours_is_an_answer_that_says_where() -> None:
    done = tasks.try_shard("a campaign that nobody prepared for", Shard("keras", 0, 1, 3))
    assert isinstance(done, tasks.OurFault)
    assert done.reason.startswith("KeyError: 'a campaign that nobody prepared for' (at tasks.py:")
    assert "warm_subjects.py:" in done.reason


def test_no_more_subjects_are_kept_warm_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warm_subjects, "MOST", 1)
    command = [sys.executable, "-u", "-c", FAKE]
    monkeypatch.setattr(warm_subjects, "SubjectProcess", functools.partial(SubjectProcess, started_by=command))
    its = warm_subjects.WarmSubjects(Setup(NAME, ("upstream",), 0))
    try:
        first = its.process("keras")
        its.scripts("keras")
        assert first.pid, "scripts take the place of none"
        second = its.process("tf_keras")
        assert not first.pid
        assert second.pid
    finally:
        its.close()
