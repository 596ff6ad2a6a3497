"""Warm subjects for commands that run in the process of a test: each would start a Keras of its own."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from clonediff.harness.subjects.environment import Place
from clonediff.harness.subjects.process import Limits, SubjectProcess
from clonediff.harness.subjects.subject import Subject


class Lent(SubjectProcess):
    """A warm process in other hands: who leaves it does not end it."""

    def __init__(self, process: SubjectProcess) -> None:
        """Share all that it is."""
        self.__dict__ = process.__dict__

    def __exit__(self, *ended: object) -> None:
        """It goes on."""

    def close(self) -> None:
        """Likewise."""


def lend(monkeypatch: pytest.MonkeyPatch, warm: Callable[[str], SubjectProcess]) -> None:
    """Have the commands that try graphs ask the warm process of a subject, where they would start one like it."""

    def started(subject: Subject, *, place: Place = (), limits: Limits | None = None) -> SubjectProcess:
        its = warm(str(replace(subject, version=None) if not place else subject))
        if its.place == place:
            return Lent(its)
        return SubjectProcess(subject, place=place, limits=limits)

    monkeypatch.setattr("clonediff.harness.answers.replay.SubjectProcess", started)
