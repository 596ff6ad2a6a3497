"""One graph after another on one subject: which of them show something that is not known yet.

Owns the rule by which a trial's causes become hits, and the rule by which costly checks are sampled. The
property tests and `clonediff fuzz` are both made of it. Must not import Keras.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from harness.subjects.case import COSTLY, RATE, UPSTREAM_AND_FIXED
from harness.subjects.process import SubjectProcess
from harness.trials.cases import case_of, number_of
from harness.trials.triage import Blame, Verdict, title
from harness.trials.trial import Case, Trial, run
from reports.known import KnownIssue, KnownIssues
from reports.records import Cause, Cost
from reports.store import slug
from strategies.graph import Graph
from strategies.kinds import Generation

Key = tuple[str, str, str]

_CLONES_WITH = {"multi_gpu": "upstream", "multi_gpu/fixed": "fixed"}
"""Cloners that clone with another one, whose known issues they have."""

REFUSED = "original-refused"
LOST = "process-lost"


@dataclass(frozen=True, slots=True)
class Hit:
    """Something that a trial showed. `known` is the issue that explains it; what has none is news.

    `across` names two subjects, where it is they that differ and no cloner is accused. `notes` is what every report of
    the cloner's work has to say.
    """

    fingerprint: str
    cloner: str
    title: str
    case: Case
    graph: Graph
    cause: Cause | None = None
    blame: Blame | None = None
    known: KnownIssue | None = None
    detail: str = ""
    across: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def key(self) -> Key:
        """What makes two hits the same one; a refusal is known by the type of its exception."""
        return self.cloner, self.fingerprint, self._how or " ".join(self.across)

    @property
    def id(self) -> str:
        """The name of the finding."""
        return slug(self.fingerprint, self._how.lower()) if self._how else self.fingerprint

    @property
    def _how(self) -> str:
        return self.detail.partition(":")[0] if self.fingerprint in (REFUSED, LOST) else ""


@dataclass(slots=True)
class Tally:
    """What trials has seen so far.

    `drawn` counts the trials that were not for making a finding smaller, `unsteady` what showed once and not again,
    `known` the graphs that showed a known issue, of which `costs` has the worst that it cost.
    """

    trials: int = 0
    drawn: int = 0
    unsteady: int = 0
    costly: int = 0
    verdicts: Counter[tuple[str, str]] = field(default_factory=Counter)
    known: Counter[str] = field(default_factory=Counter)
    costs: dict[str, Cost] = field(default_factory=dict)
    refused: int = 0
    seconds: float = 0.0

    def meet(self, issues: Mapping[str, Cost]) -> None:
        """Count a graph that showed known issues, each with the worst that it cost there."""
        self.known.update(issues.keys())
        for name, cost in issues.items():
            self.costs[name] = min(cost, self.costs.get(name, cost))


class GraphTrials:
    """Trials on one subject, under one list of known issues.

    Of every `rate` graphs one gets the costly checks as well; 0 is none, 1 is all. Which one follows from the graph, so
    that a graph is always tried in the same way.
    """

    def __init__(
        self,
        process: SubjectProcess,
        known: KnownIssues,
        *,
        cloners: Sequence[str] = UPSTREAM_AND_FIXED,
        rate: int = RATE,
    ) -> None:
        self.process = process
        self.generation: Generation = process.subject.generation
        self.cloners = tuple(cloners)
        self.rate = rate
        self.tally = Tally()
        self._known = {
            cloner: known.on(self.generation, process.ready.keras, _CLONES_WITH.get(cloner, cloner))
            for cloner in self.cloners
        }

    def known(self, cloner: str) -> KnownIssues:
        """The known issues that may explain what a cloner does."""
        return self._known[cloner]

    def sampled(self, graph: Graph) -> bool:
        """Whether a graph gets the costly checks."""
        return self.rate > 0 and number_of(graph) % self.rate == 0

    def try_graph(self, graph: Graph, *, costly: bool | None = None) -> list[Hit]:
        """Try a graph. What is known is among the answers, with its issue."""
        checks = COSTLY if (self.sampled(graph) if costly is None else costly) else ()
        case = case_of(graph, self.process.subject.dialect)
        trial = run(case, self.process, self.cloners, checks)
        self._count(trial, bool(checks))
        return [*self._hits(graph, case, trial), *self.beside(graph, case, trial)]

    def beside(self, graph: Graph, case: Case, trial: Trial) -> list[Hit]:
        """What there is to say of a trial beside what its cloners did: nothing, but for `harness.trials.across`."""
        return []

    def _count(self, trial: Trial, costly: bool) -> None:
        tally = self.tally
        tally.trials += 1
        tally.costly += costly
        tally.seconds += trial.seconds
        for name, clone in trial.clones.items():
            tally.verdicts[name, clone.verdict.value] += 1

    def _hits(self, graph: Graph, case: Case, trial: Trial) -> list[Hit]:
        if trial.refused is not None:
            self.tally.refused += 1
            if self.process.subject.version is not None:
                # A release of another day may lack what a graph asks for: that says nothing of how it clones.
                return []
            said = f"{trial.refused.type}: {trial.refused.message}"
            return [Hit(REFUSED, "", "The original cannot be built", case, graph, detail=said)]
        if trial.lost is not None:
            return [Hit(LOST, "", "The original takes its process with it", case, graph, detail=trial.lost.found)]
        found = []
        met: dict[str, Cost] = {}
        for cloner, clone in trial.clones.items():
            if clone.verdict is Verdict.FAITHFUL:
                continue
            for cause, blame in zip(clone.causes, clone.blame, strict=True):
                issue = self._known[cloner].of(cause)
                if issue is not None:
                    met[issue.id] = min(cause.rank, met.get(issue.id, cause.rank))
                found.append(
                    Hit(cause.fingerprint, cloner, title(cause), case, graph, cause, blame, issue, notes=clone.notes)
                )
        self.tally.meet(met)
        return found


def news(hits: Collection[Hit], seen: Collection[Key] = ()) -> list[Hit]:
    """What is neither known nor seen already, our own faults first."""
    fresh = [each for each in hits if each.known is None and each.key not in seen]
    return sorted(fresh, key=lambda each: each.cloner == "upstream")
