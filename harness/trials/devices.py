"""One case on two devices, or two backends: how the answers of two processes are compared with each other.

Owns what of them can be compared. For what differs between the two no cloner is to blame.
"""

from __future__ import annotations

import functools

from clonediff.harness.subjects.observation import Answer
from clonediff.harness.subjects.outcomes import Outcome
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.subjects.subject import Subject
from clonediff.harness.trials.checks.devices import ASPECTS, NARROW, RUNS, Check, Elements, Terms, devices
from clonediff.reports.records import Difference


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
    return [ASPECTS[terms.check].differs("process", "process", want, have, None)]


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


def _values(first: SubjectProcess, second: SubjectProcess, want: str, have: str) -> tuple[Elements, Elements] | None:
    (mine,), (theirs,) = first.elements([want]), second.elements([have])
    if mine is None or theirs is None or len(mine.elements) != len(theirs.elements):
        return None
    return mine.numbers(), theirs.numbers()
