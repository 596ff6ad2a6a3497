"""The second process of a check that takes long."""

from __future__ import annotations

import os
from typing import Self

import pytest

from clonediff.harness.answers.checked_model.looking import CheckWanted, second_for
from clonediff.harness.answers.checked_model.models import parse
from clonediff.harness.answers.checked_model.record import Status
from clonediff.harness.cli import check
from clonediff.harness.subjects.outcomes import SubjectError
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.subjects.subject import Subject
from clonediff.harness.subjects.warm_child import GIB, Limits
from clonediff.reports.known import load
from tests.waiting import PATIENCE, until

NAME = "applications:MobileNet:input_shape=32,32,3"
ROOM = Limits(memory=16 * GIB)

pytestmark = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="there is no second one on one core")


class TooLate(SubjectProcess):
    """A process that does not start."""

    def __enter__(self) -> Self:
        """Say so."""
        raise SubjectError("not started")


def test_it_starts_without_waiting_for_the_first_one() -> None:
    first = SubjectProcess(Subject.parse("keras"), limits=ROOM)
    with second_for(parse(NAME), first, CheckWanted(seconds=PATIENCE)) as second:
        until(lambda: second.pid is not None)
        assert first.pid is None
        assert second.started().ready.generation == "keras"
    assert second.pid is None


def test_a_check_starts_it_before_the_first_one_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = []

    def noted(*given: object) -> object:
        seconds.append(second_for(*given))  # type: ignore[arg-type]  # as the command gives them
        return seconds[-1]

    monkeypatch.setattr(check, "second_for", noted)
    monkeypatch.setattr(check, "open_subject", lambda subject, limits: TooLate(subject, limits=limits))
    subject, wanted = Subject.parse("keras"), CheckWanted(seconds=PATIENCE)
    checked = check._check(parse(NAME), subject, wanted, ROOM, load(), lambda at: None)
    assert (checked.status, checked.reason) == (Status.NO_SUBJECT, "not started")
    assert len(seconds) == 1
    assert seconds[0].pid is None, "it ends with the check"
