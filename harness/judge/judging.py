"""Compares a release with what takes its place, proposed fixes or a change of Keras.

The scripts of known issues are run with both, and then their models and drawn ones are tried. A known issue is mended
where its script ends well and its model is cloned faithfully; gone where another bug is on its model; left otherwise.
Worse is what the release does not show: a script that failed not, or a cause on a model, unless another model of the
release has it, and this one hid it behind a crash.
"""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

import msgspec
from msgspec.structs import replace

from clonediff.harness.judge.edits import PrivateCopy
from clonediff.harness.judge.keras_tests import TestsCompared, compare
from clonediff.harness.judge.proposals import ProposalError, read_proposal
from clonediff.harness.scripts.alone import ReplayAnswer, ScriptRunner
from clonediff.harness.scripts.known_scripts import case_of_script
from clonediff.harness.scripts.reproducer import Script, reproducer
from clonediff.harness.search.hunt import search
from clonediff.harness.subjects.child import scratch
from clonediff.harness.subjects.environment import Place
from clonediff.harness.subjects.outcomes import SubjectError
from clonediff.harness.subjects.process import Limits, SubjectProcess
from clonediff.harness.subjects.releases import place_of
from clonediff.harness.subjects.subject import Subject
from clonediff.harness.trials.cases import case_of
from clonediff.harness.trials.checks.made import NOT_BUILT
from clonediff.harness.trials.graph_trials import UPSTREAM, Costly, GraphTrials
from clonediff.harness.trials.triage import alike, fingerprint, makes_a_clone, title
from clonediff.harness.trials.trial import LOST, Case, Hit, Trial, lost_difference
from clonediff.reports.known import KnownIssue, KnownIssues
from clonediff.reports.records import DOES, UPSTREAM_AND_FIXED, Cause, Severity
from clonediff.strategies.program import Graph

Say = Callable[[str], None]
ALL = "all of them"
"""The name of the verdict on a whole series."""
MOST_LOST = 3
"""The processes that a candidate may take with it; after that it is not given another."""
_DOCSTRING = re.compile(r'\A"""[\s\S]*?"""\s*')


@dataclass(frozen=True, slots=True)
class JudgeBudget:
    """How long models are drawn, and how many; the limits of a trial. `at_least` is the severity that counts."""

    seconds: float = 8.0
    models: int = 400
    seed: int = 0
    at_least: Severity = Severity.TRAINS
    limits: Limits = field(default_factory=lambda: Limits(trial=15.0, cloning=0))


class Worse(msgspec.Struct, frozen=True):
    """A cause that the release does not show, and a script of the smallest model that has it."""

    id: str
    title: str
    severity: str
    actual: str
    script: str


class Judged(msgspec.Struct, frozen=True):
    """What came of a proposal, or of a change of Keras.

    Of the known issues whose scripts fail on the release, `mends`, `gone` and `leaves` have the ids, and of the others
    `breaks`. `fixes` has what it is for. `models` counts the trials of models that the release builds. `refused` says
    why nothing could be tried, `stopped` why not everything was.
    """

    name: str
    against: str
    versions: dict[str, str] = {}
    fixes: tuple[str, ...] = ()
    refused: str = ""
    models: int = 0
    worse: tuple[Worse, ...] = ()
    mends: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    leaves: tuple[str, ...] = ()
    breaks: tuple[str, ...] = ()
    tests: TestsCompared = TestsCompared()
    stopped: str = ""

    @property
    def fails(self) -> tuple[str, ...]:
        """What it is for, and does not fix."""
        return tuple(id_ for id_ in self.fixes if id_ in self.leaves or id_ in self.breaks)

    @property
    def holds(self) -> bool:
        """Whether it fixes what it is for, nothing is worse, and everything was tried."""
        return self.word == "holds"

    @property
    def word(self) -> str:
        """The verdict in a few words."""
        words = {
            "does not load": self.refused,
            "makes something worse": self.worse or self.breaks or self.tests.broken,
            f"does not fix {', '.join(self.fails)}": self.fails,
            "unfinished": self.stopped,
        }
        return next((word for word, applies in words.items() if applies), "holds")


class Release:
    """A release, and what is wrong with it: the scripts that fail there, and the causes on models."""

    def __init__(self, subject: Subject, known: KnownIssues, budget: JudgeBudget, say: Say, fixed: bool = True) -> None:
        """`fixed`: what our `clone_model` breaks, too, does not count."""
        self.subject, self.budget, self.say = subject, budget, say
        self.place = place_of(subject)
        self.known = known.on(subject.generation)
        self.issues = [issue for issue in self.known.issues if issue.script]
        self.process = SubjectProcess(subject, place=self.place, limits=budget.limits)
        cloners = UPSTREAM_AND_FIXED if fixed else (UPSTREAM,)
        self._trials = GraphTrials(self.process, KnownIssues(), cloners=cloners)
        self._tried: dict[bytes, Trial] = {}
        self._shown: set[str] = set()
        passing = self.passing(subject, self.place, self.issues)
        self.failing = [issue for issue in self.issues if issue.id not in passing]

    def passing(self, subject: Subject, place: Place, issues: Collection[KnownIssue]) -> set[str]:
        """The ids of the issues whose script ends well in that place."""
        ended: set[str] = set()
        with closing(ScriptRunner(subject, place)) as runner:

            def passes(text: str, raises: str) -> bool:
                return runner.answer(Script(text, raises, sure=True))[0] is ReplayAnswer.GONE

            if not passes(f"import {subject.generation}\n", "ImportError"):
                SubjectProcess(subject, place=place).start()  # which says why it does not
            for number, issue in enumerate(issues):
                self.say(f"scripts of known issues, {number} of {len(issues)}")
                if passes(issue.script, issue.raises):
                    ended.add(issue.id)
        return ended

    def trial_of(self, case: Case, costly: bool) -> Trial:
        """The trial of a model, which is tried once."""
        key = msgspec.json.encode((case, costly))
        if key not in self._tried:
            trial = self._tried[key] = self._trials.try_case(case, costly=costly)
            for cause in trial.clones[UPSTREAM].causes if UPSTREAM in trial.clones else ():
                self._shown |= set(map(fingerprint, cause.differences))
        return self._tried[key]

    def has(self, trial: Trial, cause: Cause) -> bool:
        """Whether the release has a cause on a model, or hides it there and has it on another."""
        before = trial.clones[UPSTREAM].causes
        ours = trial.clones["fixed"].causes if "fixed" in trial.clones else ()
        if any(alike(cause, other) and other.severity <= cause.severity for other in (*before, *ours)):
            return True
        if any(fingerprint(other) == cause.fingerprint for it in before for other in it.differences):
            return True
        hidden = cause.severity is Severity.CRASHES or cause.fingerprint in self._shown
        return not makes_a_clone(before) and (hidden or self.known.of(cause) is not None)


class Candidate(GraphTrials):
    """A process with something else in the place of the release."""

    def __init__(self, process: SubjectProcess, release: Release) -> None:
        super().__init__(process, KnownIssues(), cloners=(UPSTREAM,))
        self._release = release
        self._worse: dict[str, tuple[Cause, Case, bool]] = {}
        self._models = 0

    def judge(self, judged: Judged) -> Judged:
        """Try everything."""
        release = self._release
        passing = release.passing(self.process.subject, self.process.place, release.issues)
        failing = {issue.id for issue in release.failing}
        others: set[str] = set()
        for issue in release.issues:
            release.say(f"models of known issues, {len(release.issues)}: {issue.id}")
            if issue.fingerprint and self.look(_model_of(issue)):
                others.add(issue.id)
        self._draw()
        for id_, (_, case, costly) in [] if self._is_given_up else list(self._worse.items()):
            if id_ not in [cause.fingerprint for cause, worse in self.look(case, costly) if worse]:
                del self._worse[id_]  # it came of a time limit on a busy machine, or the release hid it
        return replace(
            judged,
            models=self._models,
            worse=tuple(self._as_worse()),
            mends=tuple(sorted((failing & passing) - others)),
            gone=tuple(sorted(failing & passing & others)),
            leaves=tuple(sorted(failing - passing)),
            breaks=tuple(sorted({issue.id for issue in release.issues} - failing - passing)),
            stopped=f"it has ended or held up its process {MOST_LOST} times" if self._is_given_up else "",
        )

    def look(self, case: Case, costly: bool = False) -> list[tuple[Cause, bool]]:
        """Try a model: each cause that counts, and whether it is worse than in the release."""
        if self._is_given_up:
            return []
        with ThreadPoolExecutor(1) as executor:
            waiting = executor.submit(self._release.trial_of, case, costly)
            trial = self.try_case(case, costly=costly)
            before = waiting.result()
        if not before.built or UPSTREAM not in before.clones:
            return []
        self._models += 1
        causes = trial.clones[UPSTREAM].causes if UPSTREAM in trial.clones else ()
        counting = [cause for cause in causes if cause.severity <= self._release.budget.at_least]
        looked = [(cause, not self._release.has(before, cause)) for cause in counting]
        if not trial.built:
            looked = [(_unbuilt(trial), True)]
        for cause, worse in looked:
            smallest = self._worse.get(cause.fingerprint)
            if worse and (smallest is None or len(case.source) < len(smallest[1].source)):
                self._worse[cause.fingerprint] = cause, case, costly
        return looked

    def try_graph(self, graph: Graph, *, costly: Costly = None) -> Trial:
        """Try a graph that was drawn; what is worse there is worth making smaller."""
        case = case_of(graph)
        looked = self.look(case, self.sampled(graph) if costly is None else costly)
        causes = [cause for cause, worse in looked if worse]
        return Trial(hits=tuple(Hit(cause.fingerprint, "worse", title(cause), case, graph, cause) for cause in causes))

    @property
    def _is_given_up(self) -> bool:
        return self.process.losses.total() >= MOST_LOST

    def _draw(self) -> None:
        """Draw models, each that shows something worse made small before the next is looked for."""
        budget, turn = self._release.budget, 0
        until = time.monotonic() + budget.seconds
        keys = {("worse", id_) for id_ in self._worse}
        while time.monotonic() < until and self.tally.drawn < budget.models and not self._is_given_up:
            hit = search(
                self,
                examples=budget.models - self.tally.drawn,
                seed=budget.seed * 1_000_003 + turn,
                seen=keys,
                until=until,
                after_each=lambda: self._release.say(f"drawn models, {self.tally.drawn}"),
                reducing=4.0,
            )
            turn += 1
            keys |= set() if hit is None else {hit.key}

    def _as_worse(self) -> Iterator[Worse]:
        """What is worse, the worst first."""
        for cause, case, _ in sorted(self._worse.values(), key=lambda entry: entry[0].severity):
            text = f"# With what is judged in its place.\n{reproducer(case, self.generation, cause.root).text}"
            yield Worse(cause.fingerprint, title(cause), DOES[cause.severity], cause.root.found, text)


def _model_of(issue: KnownIssue) -> Case:
    """The model of a known issue, without what its script says of the issue."""
    case = case_of_script(issue)
    return replace(case, source=_DOCSTRING.sub("", case.source))


def _unbuilt(trial: Trial) -> Cause:
    """A model that the untouched release builds, and this process no longer does."""
    if trial.lost is not None:
        return Cause(LOST, lost_difference(trial.lost), severity=Severity.CRASHES)
    reason = f"{trial.refused.type}: {trial.refused.message}" if trial.refused else "no answer"
    difference = NOT_BUILT.differs("model", "a model", reason, None)
    return Cause("original-refused", difference, severity=Severity.CRASHES)


@contextmanager
def _copy_of(subject: Subject) -> Iterator[PrivateCopy]:
    """A private copy of the package of a release."""
    place = place_of(subject)
    spec = None if place else find_spec(subject.generation)
    package = Path(spec.origin or "").resolve().parent if spec else Path(place[0], subject.generation)
    with tempfile.TemporaryDirectory(dir=scratch()) as folder:
        yield PrivateCopy(package, Path(folder))


def judge_each(texts: Mapping[str, str], release: Release, fixes: Collection[str], tests: bool) -> Iterator[Judged]:
    """The verdict on each proposal, the text of a file by its name, as it comes."""
    for name, text in texts.items():
        judged = Judged(name, str(release.subject), release.process.versions)
        with _copy_of(release.subject) as copy:
            try:
                proposal = read_proposal(name, text, copy.cloning_functions())
                copy.put(proposal)
                judged = replace(judged, fixes=tuple(fixes or proposal.mends))
                judged = _with_copy(judged, release, copy, tests)
            except (ProposalError, SubjectError) as error:
                judged = replace(judged, refused=str(error))
        yield judged


def judge_series(texts: Mapping[str, str], release: Release, fixes: Collection[str], tests: bool) -> Iterator[Judged]:
    """What each proposal mends on top of those before, and at last the verdict on all of them."""
    subject, left, for_all = release.subject, release.failing, list(fixes)
    with _copy_of(subject) as copy:
        for name, text in texts.items():
            judged = Judged(name, str(subject), release.process.versions)
            try:
                proposal = read_proposal(name, text, copy.cloning_functions())
                if not proposal.is_for(subject.generation):
                    continue
                copy.put(proposal)
                passing = release.passing(subject, (str(copy.folder), *release.place), left)
            except (ProposalError, SubjectError) as error:
                yield replace(judged, refused=str(error))
                return
            left = [issue for issue in left if issue.id not in passing]
            ids = tuple(issue.id for issue in left)
            yield replace(judged, fixes=proposal.mends, mends=tuple(sorted(passing)), leaves=ids)
            for_all += proposal.mends
        judged = Judged(ALL, str(subject), release.process.versions, tuple(dict.fromkeys(for_all)))
        yield _with_copy(judged, release, copy, tests)


def _with_copy(judged: Judged, release: Release, copy: PrivateCopy, tests: bool) -> Judged:
    """The verdict on what is in a copy."""
    place = (str(copy.folder), *release.place)
    with SubjectProcess(release.subject, place=place, limits=release.budget.limits) as process:
        judged = Candidate(process, release).judge(judged)
    return replace(judged, tests=compare(copy)) if tests else judged


def judge_change(release: Release, head: Subject, fixes: Collection[str]) -> Judged:
    """The verdict on a change of Keras, from a release to another tree."""
    with SubjectProcess(head, place=place_of(head), limits=release.budget.limits) as process:
        judged = Judged(str(head), str(release.subject), process.versions, tuple(fixes))
        return Candidate(process, release).judge(judged)


def diff_of(texts: Mapping[str, str], subject: Subject) -> str:
    """What proposals change, one after the other, as a unified diff against the release."""
    with _copy_of(subject) as copy:
        for name, text in texts.items():
            try:
                proposal = read_proposal(name, text, copy.cloning_functions())
                if proposal.is_for(subject.generation):
                    copy.put(proposal)
            except ProposalError as error:
                raise ProposalError(f"{name}: {error}") from error
        return copy.diff()
