"""Every graph on another backend, or another device, as well: the same model with the same weights and inputs.

What differs between the two is a finding of its own kind, which accuses no cloner. Owns which differences are told, and
what cannot be compared. Must not import Keras.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from harness.subjects.case import RATE, UPSTREAM_AND_FIXED, Case
from harness.subjects.observation import Answer
from harness.subjects.outcomes import Killed, Outcome
from harness.subjects.process import SubjectProcess
from harness.subjects.subject import Subject
from harness.trials.devices import between, terms_of
from harness.trials.graph_trials import GraphTrials, Hit
from harness.trials.triage import causes, named_kinds, title
from harness.trials.trial import Trial
from reports.known import KnownIssues
from reports.records import Difference
from strategies.graph import Graph

_UNSUPPORTED = ("NotImplementedError", "Unsupported")


@dataclass(slots=True)
class Compared:
    """How many graphs were compared with another subject, and how many could not be, by why."""

    graphs: int = 0
    not_compared: Counter[str] = field(default_factory=Counter)


class TrialsAcross(GraphTrials):
    """trials that also runs each graph in the processes of `others`, and compares what the originals compute."""

    def __init__(
        self,
        process: SubjectProcess,
        known: KnownIssues,
        others: Sequence[SubjectProcess],
        *,
        cloners: Sequence[str] = UPSTREAM_AND_FIXED,
        rate: int = RATE,
    ) -> None:
        super().__init__(process, known, cloners=cloners, rate=rate)
        self.others = tuple(others)
        self.compared = {str(other.subject): Compared() for other in others}
        self._apart = {
            other: known.on(self.generation, process.ready.keras, terms_of(process.subject, other.subject).check)
            for other in others
        }

    def beside(self, graph: Graph, case: Case, trial: Trial) -> list[Hit]:
        """What differs between this subject and the others."""
        if trial.original is None:
            return []
        found: list[Hit] = []
        for other in self.others:
            found += self._compare(graph, case, Answer(original=trial.original), other)
        return found

    def _compare(self, graph: Graph, case: Case, mine: Answer, other: SubjectProcess) -> list[Hit]:
        tally = self.compared[str(other.subject)]
        theirs = other.trial(case, cloners=())
        reason = _apart(theirs)
        if reason is not None:
            tally.not_compared[reason] += 1
            return []
        differences = between(self.process, other, mine, theirs)
        if any(each.aspect == "value unknown" for each in differences):
            # The arrays of this side went with a process that a cloner ended.
            again = self.process.trial(case, cloners=())
            differences = between(self.process, other, again, theirs)
        if any(map(_unsupported, differences)):
            tally.not_compared["with an operation that one of them does not have"] += 1
            return []
        tally.graphs += 1
        found = []
        for cause in causes(mine.original, named_kinds(differences, case.kinds)):
            issue = self._apart[other].of(cause)
            if issue is not None:
                self.tally.meet({issue.id: cause.rank})
            names = str(self.process.subject), str(other.subject)
            said = f"{' and '.join(names)}: {title(cause)}"
            found.append(Hit(cause.fingerprint, "", said, case, graph, cause, known=issue, across=names))
        return found


def others_of(subject: Subject, named: Iterable[Subject]) -> list[Subject]:
    """The subjects that one can be compared with: the same release on another backend or device."""
    return [
        other
        for other in dict.fromkeys(named)
        if other != subject and (other.package, other.version) == (subject.package, subject.version)
    ]


def _apart(outcome: Outcome) -> str | None:
    """Why an outcome cannot be compared. What ends the process of one alone is a difference."""
    if isinstance(outcome, Answer):
        return None if outcome.original is not None else "refused there"
    return None if isinstance(outcome, Killed) else "took too long or too much memory there"


def _unsupported(difference: Difference) -> bool:
    return difference.aspect == "raises" and bool({difference.expected, difference.found}.intersection(_UNSUPPORTED))
