"""Something in the place of `clone_model`, tried on models beside the untouched release, and what came of it.

Models of known issues come first, then drawn ones. A cause that the release does not show is worse: something breaks
that worked, or an exception has become a wrong clone. A cause that it shows as well is left.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import msgspec

from clonediff.harness.drawing.drawable_kinds import graphs_on
from clonediff.harness.scripts.known_scripts import case_of_script
from clonediff.harness.scripts.reproducer import reproducer
from clonediff.harness.search.draw_and_reduce import search
from clonediff.harness.subjects.process import Limits, SubjectProcess
from clonediff.harness.trials.checks.aspects import differs
from clonediff.harness.trials.graph_trials import Costly, GraphTrials
from clonediff.harness.trials.triage import alike, makes_a_clone, title
from clonediff.harness.trials.trial import LOST, Case, Hit, Trial, lost_difference
from clonediff.reports.known import KnownIssues
from clonediff.reports.records import DOES, UPSTREAM_AND_FIXED, Cause, Severity
from clonediff.strategies.graph import Call, Function, Graph, Input, Layer, Ref, Seq

REPORTED = Graph(
    (Input((1,)),),
    (Layer("Lambda", (("function", Function("lambda", ("x", "x"), "list")),)), Layer("Add")),
    (Call(0, (Ref(0),), outputs=2), Call(1, (Seq((Ref(1, 0), Ref(1, 1))),))),
    Ref(0),
    Ref(2),
)
"""The model of the bug report (keras#12202): a layer with two outputs and no mask, both of them used."""
MOST_LOST = 3
"""The processes that a candidate may take with it; after that it is not given another."""
_REDUCING = 4.0

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class JudgeBudget:
    """How long models are drawn, and how many; the limits of a trial. `at_least` is the severity that counts."""

    seconds: float = 8.0
    models: int = 400
    seed: int = 0
    at_least: Severity = Severity.TRAINS
    limits: Limits = field(default_factory=lambda: Limits(trial=15.0, cloning=0))


class JudgedCause(msgspec.Struct, frozen=True):
    """A cause on the smallest model that shows it, the name of the first that did, and a script."""

    id: str
    title: str
    severity: str
    found: str
    first_on: str
    script: str
    known: str | None = None


class Judged(msgspec.Struct, frozen=True):
    """What came of a proposal, or of a change of Keras.

    `tried` counts models that the release builds, `mends` and `leaves` have the known issues whose model is cloned
    faithfully now, or is not. `reported` says whether the reported bug is gone, None where nobody asked. `refused` says
    why nothing could be tried, `stopped` why not everything was.
    """

    name: str
    against: str
    versions: dict[str, str] = {}
    taken: str = ""
    refused: str = ""
    tried: int = 0
    worse: tuple[JudgedCause, ...] = ()
    left: tuple[JudgedCause, ...] = ()
    mends: tuple[str, ...] = ()
    leaves: tuple[str, ...] = ()
    reported: bool | None = None
    stopped: str = ""

    @property
    def holds(self) -> bool:
        """Whether nothing is worse, the reported bug is gone if somebody asked, and everything was tried."""
        return not (self.refused or self.stopped or self.worse) and self.reported is not False

    @property
    def word(self) -> str:
        """The verdict in a few words."""
        if self.refused:
            return "does not load"
        if self.worse:
            return "makes something worse"
        if self.reported is False:
            return "does not fix the reported bug"
        return "holds, leaves others broken" if self.left else "holds"


class Reference(GraphTrials):
    """The untouched release: each model is tried once, for every candidate."""

    def __init__(self, process: SubjectProcess, fixed: bool = True) -> None:
        """What `fixed` breaks as well speaks against nobody, where it is asked."""
        super().__init__(process, KnownIssues(), cloners=UPSTREAM_AND_FIXED[: 1 + fixed])
        self._trials: dict[bytes, Trial] = {}

    def of(self, case: Case) -> Trial:
        """The trial of a model."""
        key = msgspec.json.encode(case)
        if key not in self._trials:
            self._trials[key] = self.try_case(case)
        return self._trials[key]


class Candidate(GraphTrials):
    """A process in which something else clones, beside the untouched release."""

    def __init__(
        self,
        process: SubjectProcess,
        reference: Reference,
        known: KnownIssues,
        budget: JudgeBudget,
        *,
        cloner: str = UPSTREAM_AND_FIXED[0],
        in_script: Callable[[str], str] = str,
    ) -> None:
        """`known` are the issues of the release; `in_script` puts what clones into a script. Nothing is tried yet."""
        super().__init__(process, KnownIssues(), cloners=(cloner,))
        self._reference, self._issues, self._budget, self._cloner = reference, known, budget, cloner
        self._in_script = in_script
        self._worse: dict[str, tuple[Cause, str, Case]] = {}
        self._left: dict[str, tuple[Cause, str, Case]] = {}
        self._restarts = process.losses.total()
        self.tried = 0

    def judge(self, judged: Judged, say: Say, *, reported: bool) -> Judged:
        """Try everything; where it is interrupted, the verdict is on what was tried by then."""
        mends: list[str] = []
        leaves: list[str] = []
        stopped, fixes = "", None
        try:
            if reported:
                with self.asking():
                    case = self.case(REPORTED)
                fixes = not any(cause.severity <= Severity.COMPUTES for cause, _ in self.look(case, "the bug report"))
            issues = [issue for issue in self._issues.issues if issue.fingerprint is not None]
            for number, issue in enumerate(issues):
                say(f"known issues, {number} of {len(issues)}")
                case = case_of_script(issue)
                found = list(self.look(case, f"the known issue {issue.id}"))
                if self._counted(self._reference.of(case).clones.get("upstream")):
                    (leaves if found else mends).append(issue.id)
            self._draw(say)
        except KeyboardInterrupt:
            stopped = "interrupted"
        except _GivenUp as error:
            stopped = str(error)
        return msgspec.structs.replace(
            judged,
            tried=self.tried,
            worse=self._told(self._worse),
            left=self._told({name: found for name, found in self._left.items() if name not in self._worse}),
            mends=tuple(mends),
            leaves=tuple(leaves),
            reported=fixes,
            stopped=stopped,
        )

    def again(self, before: Candidate) -> set[str]:
        """Those causes that were worse before which are so here, in other processes."""
        shown = ((cause, self.look(case, "")) for cause, _, case in before._worse.values())
        return {cause.fingerprint for cause, found in shown if any(_same(cause, *pair) for pair in found)}

    def look(self, case: Case, where: str) -> Iterator[tuple[Cause, bool]]:
        """Try a model: each cause that counts, and whether it is worse than in the release."""
        found = list(self._against_release(case))
        for cause, worse in found:
            causes = self._worse if worse else self._left
            known = causes.get(cause.fingerprint)
            if known is None or len(case.source) < len(known[2].source):
                causes[cause.fingerprint] = cause, where if known is None else known[1], case
        return iter(found)

    def try_graph(self, graph: Graph, *, costly: Costly = None) -> Trial:
        """Try a graph that was drawn; what is worse there is worth making smaller."""
        with self.asking():
            case = self.case(graph)
        found = self.look(case, "a drawn model")
        hits = (Hit(cause.fingerprint, "worse", title(cause), case, graph, cause) for cause, worse in found if worse)
        return Trial(hits=tuple(hits))

    def _against_release(self, case: Case) -> Iterator[tuple[Cause, bool]]:
        if self.process.losses.total() - self._restarts >= MOST_LOST:
            raise _GivenUp(f"it has ended or held up its process {MOST_LOST} times: given up")
        with ThreadPoolExecutor(1) as other:
            waiting = other.submit(self._reference.of, case)
            own = self.try_case(case)
            release = waiting.result()
        if not release.built:
            return
        self.tried += 1
        if not own.built:
            yield _unbuilt(own), True
            return
        theirs = release.clones["upstream"].causes
        fixed = release.clones["fixed"].causes if "fixed" in release.clones else ()
        for cause in self._counted(own.clones[self._cloner]):
            known = self._issues.of(cause)
            if (known is not None and known.documented) or _is_among(cause, fixed):
                continue
            # Where the release makes no clone, a bug of its own may only show now, and what still crashes is no worse.
            excused = not makes_a_clone(theirs) and (known is not None or cause.severity is Severity.CRASHES)
            yield cause, not (_is_among(cause, theirs) or excused)

    def _counted(self, clone: object) -> list[Cause]:
        causes: tuple[Cause, ...] = getattr(clone, "causes", ())
        return [cause for cause in causes if cause.severity <= self._budget.at_least]

    def _draw(self, say: Say) -> None:
        """Draw models, each that shows something worse made small before the next is looked for."""
        budget, turn = self._budget, 0
        until = time.monotonic() + budget.seconds
        seen = {("worse", name) for name in self._worse}
        while time.monotonic() < until and self.tally.drawn < budget.models:
            found = search(
                self,
                graphs_on(self.process, cloners=("candidate",)),
                examples=budget.models - self.tally.drawn,
                seed_=budget.seed * 1_000_003 + turn,
                seen=seen,
                until=until,
                after_each=lambda: say(f"drawn models, {self.tally.drawn}"),
                reducing=_REDUCING,
            )
            turn += 1
            if found is not None:
                seen.add(found.key)

    def _told(self, causes: dict[str, tuple[Cause, str, Case]]) -> tuple[JudgedCause, ...]:
        """The causes, the worst first."""
        told = []
        for cause, where, case in sorted(causes.values(), key=lambda found: found[0].severity):
            known = self._issues.of(cause)
            plain = reproducer(case.source, self.generation, cause.root, "upstream", case).text
            told.append(
                JudgedCause(
                    cause.fingerprint,
                    title(cause),
                    DOES[cause.severity],
                    cause.root.found,
                    where,
                    self._in_script(plain),
                    None if known is None else known.id,
                )
            )
        return tuple(told)


class _GivenUp(Exception):
    """A candidate has cost too many processes."""


def _same(cause: Cause, other: Cause, worse: bool) -> bool:
    return worse and other.fingerprint == cause.fingerprint


def _is_among(cause: Cause, others: tuple[Cause, ...]) -> bool:
    """Whether one of the others breaks alike, and no less comes of it."""
    return any(alike(cause, other) and other.severity <= cause.severity for other in others)


def _unbuilt(own: Trial) -> Cause:
    """A model that the untouched release builds, and this process no longer does."""
    if own.lost is not None:
        return Cause(LOST, lost_difference(own.lost), severity=Severity.CRASHES)
    said = f"{own.refused.type}: {own.refused.message}" if own.refused else "no answer"
    difference = differs("made", "original refused", "model", "a model", said, None)
    return Cause("original-refused", difference, severity=Severity.CRASHES)
