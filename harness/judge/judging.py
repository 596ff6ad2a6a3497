"""Compares a release with what takes its place, proposed fixes or a change of Keras.

The scripts of known issues are run with both, and then their models and drawn ones are tried. A known issue is mended
where its script ends well and its model is cloned faithfully; gone where another bug is on its model; left otherwise.
Worse is what the release does not show: a script that failed not, or a cause on a model, unless another model of the
release has it, and this one hid it behind a crash.
"""

from __future__ import annotations

import contextlib
import re
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
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
from clonediff.harness.subjects.releases import commit_of, in_full, merge_base, place_of, split
from clonediff.harness.subjects.subject import BACKENDS, Subject, UnknownSubjectError
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

_FEW = 40
"""So many scripts are run by one process: to import Keras in a second takes longer."""
MOST_LOST = 3
"""The processes that a candidate may take with it; after that it is not given another."""
_ABOUT = re.compile(r'\A"""[\s\S]*?"""\n|^# /// clonediff\n(?:#.*\n)*?# ///\n', re.MULTILINE)
"""What the script of a known issue says of the issue."""


@dataclass(frozen=True, slots=True)
class JudgeBudget:
    """How long models are drawn, and how many; the limits of a trial. `at_least` is the severity that counts."""

    seconds: float = 8.0
    models: int = 400
    seed: int = 0
    at_least: Severity = Severity.TRAINS
    limits: Limits = field(default_factory=lambda: Limits(trial=15.0, cloning=0))


class Worse(msgspec.Struct, frozen=True):
    """A cause that the release does not show, on the smallest model that has it, and a script."""

    id: str
    title: str
    severity: str
    actual: str
    first_on: str
    script: str
    known: str | None = None


class Judged(msgspec.Struct, frozen=True):
    """What came of a proposal, or of a change of Keras.

    Of the known issues whose scripts fail on the release, `mends`, `gone` and `leaves` have the ids, and of the others
    `breaks`. `fixes` has what it is for. `models` counts the trials of models that the release builds. `refused` says
    why nothing could be tried, `stopped` why not everything was. `part` says which part of the file was taken.
    """

    name: str
    against: str
    versions: dict[str, str] = {}
    part: str = ""
    fixes: tuple[str, ...] = ()
    refused: str = ""
    models: int = 0
    worse: tuple[Worse, ...] = ()
    mends: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    leaves: tuple[str, ...] = ()
    breaks: tuple[str, ...] = ()
    tests: TestsCompared | None = None
    stopped: str = ""

    @property
    def fails(self) -> tuple[str, ...]:
        """What it is for, and does not fix."""
        return tuple(id_ for id_ in self.fixes if id_ in self.leaves or id_ in self.breaks)

    @property
    def broken_tests(self) -> tuple[str, ...]:
        """Tests of Keras that no longer pass."""
        return self.tests.broken if self.tests is not None else ()

    @property
    def holds(self) -> bool:
        """Whether it fixes what it is for, nothing is worse, and everything was tried."""
        return not (self.refused or self.stopped or self.worse or self.breaks or self.fails or self.broken_tests)

    @property
    def word(self) -> str:
        """The verdict in a few words."""
        words = {
            "does not load": self.refused,
            "makes something worse": self.worse or self.breaks or self.broken_tests,
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
        self.issues = [issue for issue in known.on(subject.generation).issues if issue.script]
        self.process = SubjectProcess(subject, place=self.place, limits=budget.limits)
        self._trials = GraphTrials(self.process, KnownIssues(), cloners=UPSTREAM_AND_FIXED if fixed else (UPSTREAM,))
        self._by_case: dict[bytes, Trial] = {}
        self._shown: set[str] = set()
        passing = self.passing(subject, self.place, self.issues)
        self.failing = [issue for issue in self.issues if issue.id not in passing]
        self.package = _package(subject, self.place)

    def passing(self, subject: Subject, place: Place, issues: Sequence[KnownIssue]) -> set[str]:
        """The ids of the issues whose script ends well in that place."""
        ended: set[str] = set()

        def run(part: Sequence[KnownIssue]) -> None:
            with contextlib.closing(ScriptRunner(subject, place)) as runner:
                loads, _ = runner.answer(Script(f"import {subject.generation}\n", "ImportError", sure=True))
                if loads is not ReplayAnswer.GONE:
                    SubjectProcess(subject, place=place).start()  # which says why it does not
                for number, issue in enumerate(part):
                    self.say(f"scripts of known issues, {number} of {len(part)}")
                    answer, _ = runner.answer(Script(issue.script, issue.raises, sure=True))
                    if answer is ReplayAnswer.GONE:
                        ended.add(issue.id)

        parts = [part for part in (issues[::2], issues[1::2]) if len(issues) > _FEW] or [issues]
        with ThreadPoolExecutor(len(parts)) as executor:
            list(executor.map(run, parts))
        return ended

    def trial_of(self, case: Case, *, costly: bool = False) -> Trial:
        """The trial of a model, which is tried once."""
        key = msgspec.json.encode((case, costly))
        if key not in self._by_case:
            trial = self._by_case[key] = self._trials.try_case(case, costly=costly)
            for cause in trial.clones[UPSTREAM].causes if UPSTREAM in trial.clones else ():
                self._shown |= {fingerprint(difference) for difference in cause.differences}
        return self._by_case[key]

    def has(self, trial: Trial, cause: Cause) -> bool:
        """Whether the release has a cause on a model, or hides it there and has it on another."""
        before = trial.clones[UPSTREAM].causes
        ours = trial.clones["fixed"].causes if "fixed" in trial.clones else ()
        if any(alike(cause, other) and other.severity <= cause.severity for other in (*before, *ours)):
            return True
        if any(fingerprint(other) == cause.fingerprint for it in before for other in it.differences):
            return True
        hidden = cause.severity is Severity.CRASHES or cause.fingerprint in self._shown
        return not makes_a_clone(before) and (hidden or KnownIssues(tuple(self.issues)).of(cause) is not None)


class Candidate(GraphTrials):
    """A process with something else in the place of the release."""

    def __init__(self, process: SubjectProcess, release: Release) -> None:
        super().__init__(process, KnownIssues(), cloners=(UPSTREAM,))
        self._release, self._budget = release, release.budget
        self._worse: dict[str, tuple[Cause, str, Case, bool]] = {}
        self._models = 0

    def judge(self, judged: Judged) -> Judged:
        """Try everything; where it is interrupted, the verdict is on what was tried by then."""
        release, stopped = self._release, ""
        mends: list[str] = []
        gone: list[str] = []
        try:
            passing = release.passing(self.process.subject, self.process.place, release.issues)
            failing = [issue.id for issue in release.failing]
            judged = replace(
                judged,
                leaves=tuple(id_ for id_ in failing if id_ not in passing),
                breaks=tuple(issue.id for issue in release.issues if issue.id not in {*failing, *passing}),
            )
            for issue in release.issues:
                release.say(f"models of known issues, {len(release.issues)}: {issue.id}")
                others = self.look(_model_of(issue), f"the known issue {issue.id}") if issue.fingerprint else []
                if issue.id in passing and issue.id in failing:
                    (gone if others else mends).append(issue.id)
            self._draw()
            for id_, (_, where, case, costly) in list(self._worse.items()):
                if id_ not in {cause.fingerprint for cause, worse in self.look(case, where, costly=costly) if worse}:
                    del self._worse[id_]  # it came of a time limit on a busy machine, or the release hid it
        except KeyboardInterrupt:
            stopped = "interrupted"
        except _GivenUp as error:
            stopped = str(error)
        return replace(
            judged, models=self._models, worse=self._as_worse(), mends=tuple(mends), gone=tuple(gone), stopped=stopped
        )

    def look(self, case: Case, where: str, *, costly: bool = False) -> list[tuple[Cause, bool]]:
        """Try a model: each cause that counts, and whether it is worse than in the release."""
        causes = list(self._against_release(case, costly))
        for cause, worse in causes:
            known = self._worse.get(cause.fingerprint)
            if worse and (known is None or len(case.source) < len(known[2].source)):
                self._worse[cause.fingerprint] = cause, known[1] if known else where, case, costly
        return causes

    def try_graph(self, graph: Graph, *, costly: Costly = None) -> Trial:
        """Try a graph that was drawn; what is worse there is worth making smaller."""
        case = case_of(graph)
        costly = self.sampled(graph) if costly is None else costly
        causes = [cause for cause, worse in self.look(case, "a drawn model", costly=costly) if worse]
        return Trial(hits=tuple(Hit(cause.fingerprint, "worse", title(cause), case, graph, cause) for cause in causes))

    def _against_release(self, case: Case, costly: bool) -> Iterator[tuple[Cause, bool]]:
        if self.process.losses.total() >= MOST_LOST:
            raise _GivenUp(f"it has ended or held up its process {MOST_LOST} times: given up")
        with ThreadPoolExecutor(1) as executor:
            waiting = executor.submit(self._release.trial_of, case, costly=costly)
            trial = self.try_case(case, costly=costly)
            before = waiting.result()
        if not before.built or UPSTREAM not in before.clones:
            return
        self._models += 1
        if not trial.built:
            yield _unbuilt(trial), True
            return
        for cause in trial.clones[UPSTREAM].causes if UPSTREAM in trial.clones else ():
            if cause.severity <= self._budget.at_least:
                yield cause, not self._release.has(before, cause)

    def _draw(self) -> None:
        """Draw models, each that shows something worse made small before the next is looked for."""
        budget, turn = self._budget, 0
        until = time.monotonic() + budget.seconds
        keys = {("worse", id_) for id_ in self._worse}
        while time.monotonic() < until and self.tally.drawn < budget.models:
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
            if hit is not None:
                keys.add(hit.key)

    def _as_worse(self) -> tuple[Worse, ...]:
        """What is worse, the worst first."""
        worse = []
        for cause, where, case, _ in sorted(self._worse.values(), key=lambda entry: entry[0].severity):
            known, root = KnownIssues(tuple(self._release.issues)).of(cause), cause.root
            script = f"# With what is judged in its place.\n{reproducer(case, self.generation, root).text}"
            words = cause.fingerprint, title(cause), DOES[cause.severity], root.found, where, script
            worse.append(Worse(*words, known=None if known is None else known.id))
        return tuple(worse)


class _GivenUp(Exception):
    """A candidate has cost too many processes."""


def _model_of(issue: KnownIssue) -> Case:
    """The model of a known issue, without what its script says of the issue."""
    case = case_of_script(issue)
    return replace(case, source=_ABOUT.sub("", case.source).lstrip())


def _package(subject: Subject, place: Place) -> Path:
    """The folder of the package of a release."""
    spec = None if place else find_spec(subject.generation)
    return Path(place[0]) / subject.generation if spec is None else Path(spec.origin or "").resolve().parent


def _unbuilt(trial: Trial) -> Cause:
    """A model that the untouched release builds, and this process no longer does."""
    if trial.lost is not None:
        return Cause(LOST, lost_difference(trial.lost), severity=Severity.CRASHES)
    reason = f"{trial.refused.type}: {trial.refused.message}" if trial.refused else "no answer"
    difference = NOT_BUILT.differs("model", "a model", reason, None)
    return Cause("original-refused", difference, severity=Severity.CRASHES)


def judge_proposals(
    texts: Mapping[str, str],
    subject: Subject,
    known: KnownIssues,
    budget: JudgeBudget,
    say: Say,
    *,
    fixes: Collection[str] = (),
    series: bool = False,
    tests: bool = False,
) -> Iterator[Judged]:
    """The verdict on each proposal, the text of a file by its name, as it comes.

    In a `series`, each is put on those before: what each mends, and at last the verdict on all of them.
    """
    with contextlib.ExitStack() as stack:
        release = Release(subject, known, budget, say)
        stack.enter_context(release.process)
        place: Place = ()
        open_issues, for_all = release.failing, list(fixes)
        for name, text in texts.items():
            if not place or not series:
                copy = PrivateCopy(
                    release.package, Path(stack.enter_context(tempfile.TemporaryDirectory(dir=scratch())))
                )
                place = (str(copy.folder), *release.place)
            judged = Judged(name, str(subject), release.process.versions)
            try:
                proposal = read_proposal(name, text, copy.cloning_functions())
                if reason := proposal.is_not_for(subject.generation, release.process.ready.keras):
                    if series:
                        continue
                    raise ProposalError(reason)
                judged = replace(judged, part=proposal.part, fixes=tuple(fixes or proposal.mends))
                copy.put(proposal)
                if series:
                    passing = release.passing(subject, place, open_issues)
                    open_issues = [issue for issue in open_issues if issue.id not in passing]
                    left = tuple(issue.id for issue in open_issues)
                    judged = replace(judged, mends=tuple(sorted(passing)), leaves=left)
                    for_all += proposal.mends
                else:
                    with SubjectProcess(subject, place=place, limits=budget.limits) as process:
                        judged = Candidate(process, release).judge(judged)
                    judged = replace(judged, tests=compare(copy) if tests else None)
            except (ProposalError, SubjectError) as error:
                judged = replace(judged, refused=str(error))
            yield judged
            if judged.stopped == "interrupted" or (series and judged.refused):
                return
        if series:
            judged = Judged(ALL, str(subject), release.process.versions, fixes=tuple(dict.fromkeys(for_all)))
            with SubjectProcess(subject, place=place, limits=budget.limits) as process:
                judged = Candidate(process, release).judge(judged)
            yield replace(judged, tests=compare(copy) if tests else None)


def diff_of(texts: Mapping[str, str], subject: Subject) -> str:
    """What proposals change, one after the other, as a unified diff against the release."""
    with tempfile.TemporaryDirectory(dir=scratch()) as folder:
        copy = PrivateCopy(_package(subject, place_of(subject)), Path(folder))
        for name, text in texts.items():
            try:
                proposal = read_proposal(name, text, copy.cloning_functions())
                if not proposal.is_not_for(subject.generation):
                    copy.put(proposal)
            except ProposalError as error:
                raise ProposalError(f"{name}: {error}") from error
        return copy.diff()


def change_of(repo: str, base: str, head: str | None) -> tuple[Subject, Subject]:
    """The commit where a change of a repository left its base, and the change."""
    tree, suffix = split(repo.strip())
    folder = Path(tree).expanduser().absolute()
    if not folder.is_dir():
        raise UnknownSubjectError(f"--repo {repo}: there is no folder {folder}")
    before = merge_base(tree, folder, base, head or "HEAD")
    after = f"#{commit_of(tree, folder, head)}" if head else ""
    if not suffix.startswith("/"):  # or else the last part of a name may be taken for a backend
        suffix = f"/{BACKENDS['keras'][0]}{suffix}"
    old, new = (Subject.parse(in_full(f"{folder}{code}{suffix}")) for code in (f"#{before}", after))
    if old == new:
        raise UnknownSubjectError(f"{head or repo} has no change since it left {base}: both are {old}")
    return old, new


def judge_change(
    base: Subject, head: Subject, known: KnownIssues, budget: JudgeBudget, say: Say, fixes: Collection[str] = ()
) -> Judged:
    """The verdict on the change from one tree to another."""
    say("starting both")
    release = Release(base, known, budget, say, fixed=False)
    with release.process, SubjectProcess(head, place=place_of(head), limits=budget.limits) as process:
        judged = Judged(str(head), str(base), process.versions, fixes=tuple(fixes))
        return Candidate(process, release).judge(judged)
