"""One case on two devices, or two backends: each judges its own clones, and then they are compared with each other.

Owns how the answers of two processes meet, and what of them can be compared. What differs between the two accuses no
cloner. Must not import Keras.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Sequence

import msgspec

from harness.subjects.case import Case
from harness.subjects.observation import Answer
from harness.subjects.outcomes import Outcome, ValuesReport
from harness.subjects.process import SubjectProcess
from harness.subjects.subject import Subject
from harness.trials import trial as trials
from harness.trials.checks.devices import NARROW, RUNS, Check, Elements, Terms, devices
from reports.records import Cost, Difference

CLONERS = ("upstream", "fixed")


class DeviceTrial(msgspec.Struct, frozen=True):
    """One case on two devices or backends. `trials` has the verdict of each on every cloner, bit for bit.

    `differences` are those between the two, beyond the tolerance of their dtype; each has the check "device" or
    "backend". `compared` names the runs that were: see `comparable`.
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
    return DeviceTrial((both[0], both[1]), tuple(_between(*heard)), runs)


def between(first: SubjectProcess, second: SubjectProcess, one: Outcome, other: Outcome) -> list[Difference]:
    """What differs between the last outcomes of two processes, which ran the same case."""
    terms = terms_of(first.subject, second.subject)
    if isinstance(one, Answer) and isinstance(other, Answer):
        # The same tensor stands in the original, in its clones and in steps that pass it on.
        values = functools.cache(functools.partial(_values, first, second))
        return devices(one, other, values, terms)
    want, have = type(one).__name__, type(other).__name__
    if want == have:
        return []  # each trial tells of its own lost process
    return [Difference(terms.check, "process", "process", want, have, Cost.CRASHES)]


def terms_of(first: Subject, second: Subject) -> Terms:
    """On what two subjects are compared."""
    check: Check = "device" if first.backend == second.backend else "backend"
    narrow = ({}, {}) if check == "device" else (NARROW.get(first.backend, {}), NARROW.get(second.backend, {}))
    return Terms(check, comparable(first, second), narrow)


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


def _between(first: _Heard, second: _Heard) -> list[Difference]:
    if first.outcome is None or second.outcome is None:
        raise AssertionError("a trial was run in both processes")
    return between(first.process, second.process, first.outcome, second.outcome)


def _values(first: SubjectProcess, second: SubjectProcess, want: str, have: str) -> tuple[Elements, Elements] | None:
    (mine,), (theirs,) = first.elements([want]), second.elements([have])
    if mine is None or theirs is None or len(mine.elements) != len(theirs.elements):
        return None
    return mine.numbers(), theirs.numbers()
