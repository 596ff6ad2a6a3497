"""A graph on another backend, or another device, as well: the same model with the same weights and inputs.

What differs between the two is a finding of its own kind, for which no cloner is to blame. Owns on what terms two
subjects are compared, which differences are reported, and what cannot be compared.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from clonediff.harness.subjects.case import Case
from clonediff.harness.subjects.observation import Answer, Observation
from clonediff.harness.subjects.outcomes import Killed, Outcome
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.subjects.subject import Subject
from clonediff.harness.trials.checks.devices import ASPECTS, NARROW, RUNS, Check, Elements, Terms, devices
from clonediff.harness.trials.triage import causes, in_graph
from clonediff.reports.records import Cause, Difference

_UNSUPPORTED = ("NotImplementedError", "Unsupported")


@dataclass(slots=True)
class Compared:
    """How many graphs were compared with another subject, and how many could not be, by why."""

    graphs: int = 0
    not_compared: Counter[str] = field(default_factory=Counter)


def compared_with(
    other: SubjectProcess, process: SubjectProcess, case: Case, original: Observation
) -> list[Cause] | str:
    """Run a case on another subject; the causes of what differs from what `process` observed, or why it cannot be told.

    What ends the process of one alone is a difference.
    """
    mine, theirs = Answer(original=original), other.trial(case, cloners=())
    reason = _not_comparable(theirs)
    if reason is not None:
        return reason
    differences = between(process, other, mine, theirs)
    if any(each.aspect == "value unknown" for each in differences):
        # The arrays of this side went with a process that a cloner ended.
        differences = between(process, other, process.trial(case, cloners=()), theirs)
    if any(map(_unsupported, differences)):
        return "with an operation that one of them does not have"
    return causes(original, in_graph(differences, case, original))


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


def others_of(subject: Subject, named: Iterable[Subject]) -> list[Subject]:
    """The subjects that one can be compared with: the same release on another backend or device."""
    return [
        other
        for other in dict.fromkeys(named)
        if other != subject and (other.package, other.version) == (subject.package, subject.version)
    ]


def _not_comparable(outcome: Outcome) -> str | None:
    if isinstance(outcome, Answer):
        return None if outcome.original is not None else "refused there"
    return None if isinstance(outcome, Killed) else "took too long or too much memory there"


def _unsupported(difference: Difference) -> bool:
    return difference.aspect == "raises" and bool({difference.expected, difference.found}.intersection(_UNSUPPORTED))
