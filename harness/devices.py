"""One case on two devices: each judges its own clones, and then they are compared with each other.

Owns how the answers of two processes meet. What differs between devices is a device difference and accuses no cloner.
Two processes of one device, or of two backends, can be compared in the same way. Must not import Keras.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Sequence

import msgspec

from harness import trial as trials
from harness.checks.devices import RUNS, Elements, devices
from harness.observation import Answer
from harness.subjects.case import Case
from harness.subjects.outcomes import Outcome, ValuesReport
from harness.subjects.process import SubjectProcess
from harness.subjects.subject import Subject
from reports.records import Cost, Difference

CLONERS = ("upstream", "fixed")


class DeviceTrial(msgspec.Struct, frozen=True):
    """One case on two devices. `trials` has the verdict of each on every cloner, bit for bit.

    `differences` are those between the two, beyond the tolerance of their dtype; each has the check "device".
    `compared` names the runs that were: see `comparable`.
    """

    trials: tuple[trials.Trial, trials.Trial]
    differences: tuple[Difference, ...]
    compared: tuple[str, ...]


def run_on_both(
    case: Case,
    first: SubjectProcess,
    second: SubjectProcess,
    cloners: Sequence[str] = CLONERS,
    checks: Collection[str] = (),
    *,
    timeout: float | None = None,
) -> DeviceTrial:
    """Run a case in two processes, which draw the same inputs and weights from its seed, and compare what they gave.

    Raises `NoDeviceError` where one of them does not see its device.
    """
    heard = _Heard(first), _Heard(second)
    both = [trials.run(case, each, cloners, checks, timeout=timeout) for each in heard]
    runs = comparable(first.subject, second.subject)
    return DeviceTrial((both[0], both[1]), tuple(_between(*heard, runs)), runs)


def comparable(first: Subject, second: Subject) -> tuple[str, ...]:
    """The runs whose numbers should be the same on two subjects.

    In training mode layers draw: TensorFlow and JAX by algorithms that give the same on every device, torch by a
    generator of the device, whose stream is its own. And no two backends draw alike. An inference draws nothing.
    """
    same = (first.release, first.backend) == (second.release, second.backend)
    draws_alike = same and (first.backend != "torch" or first.device == second.device)
    return RUNS if draws_alike else RUNS[:1]


class _Heard:
    """A subject's process whose first outcome is kept: that of all the cloners together."""

    def __init__(self, process: SubjectProcess) -> None:
        self.process = process
        self.outcome: Outcome | None = None

    def trial(
        self, case: Case, *, cloners: Iterable[str], checks: Iterable[str] = (), timeout: float | None = None
    ) -> Outcome:
        outcome = self.process.trial(case, cloners=cloners, checks=checks, timeout=timeout)
        if self.outcome is None:
            self.outcome = outcome
        return outcome

    def values(self, digests: Iterable[tuple[str, str]]) -> list[ValuesReport]:
        return self.process.values(digests)


def _between(first: _Heard, second: _Heard, runs: Collection[str]) -> list[Difference]:
    answers = first.outcome, second.outcome
    if isinstance(answers[0], Answer) and isinstance(answers[1], Answer):
        # The same tensor stands in the original, in its clones and in steps that pass it on.
        values = functools.cache(functools.partial(_values, first.process, second.process))
        return devices(answers[0], answers[1], values, runs)
    want, have = (type(answer).__name__ for answer in answers)
    if want == have:
        return []  # each trial tells of its own lost process
    return [Difference("device", "process", "process", want, have, Cost.CRASHES)]


def _values(first: SubjectProcess, second: SubjectProcess, want: str, have: str) -> tuple[Elements, Elements] | None:
    (mine,), (theirs,) = first.elements([want]), second.elements([have])
    if mine is None or theirs is None or len(mine.elements) != len(theirs.elements):
        return None
    return mine.numbers(), theirs.numbers()
