"""Compares a release with what takes its place, proposed fixes or a change of Keras.

The scripts of known issues are run with both, and then their models and drawn ones are tried. A known issue is mended
where its script ends well and its model is cloned faithfully; gone where another bug is on its model; left otherwise.
Worse is what the release does not show: a script that failed not, or a cause on a model, unless another model of the
release has it, and this one hid it behind a crash.
"""

from __future__ import annotations

import itertools
import re
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import msgspec
from msgspec.structs import replace

from clonediff.harness.judge.edits import PrivateCopy
from clonediff.harness.judge.keras_tests import compare
from clonediff.harness.judge.proposals import Proposal, ProposalError
from clonediff.harness.scripts.alone import ReplayAnswer, ScriptRunner
from clonediff.harness.scripts.known_scripts import case_of_script
from clonediff.harness.scripts.reproducer import Script, reproducer
from clonediff.harness.search.search import search
from clonediff.harness.subjects.child import scratch
from clonediff.harness.subjects.environment import SearchPath
from clonediff.harness.subjects.outcomes import SubjectError
from clonediff.harness.subjects.process import Limits, SubjectProcess
from clonediff.harness.subjects.releases import search_path_of
from clonediff.harness.subjects.subject import Subject
from clonediff.harness.trials.checks.made import NOT_BUILT
from clonediff.harness.trials.graph_trials import UPSTREAM, GraphTrials
from clonediff.harness.trials.triage import alike, fingerprint, makes_a_clone, title
from clonediff.harness.trials.trial import LOST, Case, Hit, Key, Trial, lost_difference
from clonediff.reports.known import KnownIssue, KnownIssues
from clonediff.reports.records import DOES, Cause, Severity
from clonediff.strategies.program import Graph

ALL = "all of them"
"""The name of the verdict on a whole series."""
LIMITS = Limits(trial=15.0, cloning=0)
MOST_LOST = 3
"""The processes that a candidate may take with it; after that it is not given another."""
_DOCSTRING = re.compile(r'\A"""[\s\S]*?"""\s*')


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
    `breaks`. `fixes` has what it is for. `models` counts the trials of models that the release builds, `tests` those of
    Keras' own that pass there, of which `broken` fail. `refused` says why nothing could be tried, `stopped` why not
    everything was.
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
    tests: int | None = None
    broken: tuple[str, ...] = ()
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
            "makes something worse": self.worse or self.breaks or self.broken,
            f"does not fix {', '.join(self.fails)}": self.fails,
            "unfinished": self.stopped,
        }
        return next((word for word, applies in words.items() if applies), "holds")


class Release:
    """A release, and what is wrong with it: the scripts that fail there, and the causes on models.

    What our `clone_model` breaks, too, is not worse.
    """

    def __init__(
        self, subject: Subject, known: KnownIssues, say: Callable[[str], None], at_least: Severity, **draws: int
    ) -> None:
        """`draws` says how models are drawn: for how many `seconds`, how many `models` at most, of which `seed`."""
        self.subject, self.say, self.at_least, self.draws = subject, say, at_least, draws
        self.search_path = search_path_of(subject)
        self.known = known.on(subject.generation)
        self.issues = [issue for issue in self.known.issues if issue.script]
        self.process = SubjectProcess(subject, search_path=self.search_path, limits=LIMITS)
        self._trials = GraphTrials(self.process, KnownIssues())
        self._shown: set[str] = set()
        passing = self.passing(subject, self.search_path, self.issues)
        self.failing = [issue for issue in self.issues if issue.id not in passing]

    def passing(self, subject: Subject, search_path: SearchPath, issues: Collection[KnownIssue]) -> set[str]:
        """The ids of the issues whose script ends well in that place."""
        ended: set[str] = set()
        starts = Script(f"import {subject.generation}\n", "ImportError", sure=True)
        with closing(ScriptRunner(subject, search_path)) as runner:
            if runner.answer(starts)[0] is not ReplayAnswer.GONE:
                SubjectProcess(subject, search_path=search_path).start()  # which says why it does not
            for number, issue in enumerate(issues):
                self.say(f"scripts of known issues, {number} of {len(issues)}")
                if runner.answer(Script(issue.script, issue.raises, sure=True))[0] is ReplayAnswer.GONE:
                    ended.add(issue.id)
        return ended

    def judge(self, judged: Judged, subject: Subject, search_path: SearchPath) -> Judged:
        """The verdict on what is in another place."""
        with SubjectProcess(subject, search_path=search_path, limits=LIMITS) as process:
            return Candidate(process, self).judge(judged)

    def trial_of(self, case: Case, costly: bool) -> Trial:
        """The trial of a model."""
        trial = self._trials.try_case(case, costly=costly)
        for cause in trial.clones[UPSTREAM].causes if UPSTREAM in trial.clones else ():
            self._shown |= set(map(fingerprint, cause.differences))
        return trial

    def has(self, trial: Trial, cause: Cause) -> bool:
        """Whether the release has a cause on a model, or hides it there and has it on another."""
        before = trial.clones[UPSTREAM].causes
        followed = {fingerprint(difference) for other in before for difference in other.differences}
        both = [other for clone in trial.clones.values() for other in clone.causes if other.severity <= cause.severity]
        if cause.fingerprint in followed or any(alike(cause, other) for other in both):
            return True
        hidden = cause.severity is Severity.CRASHES or cause.fingerprint in self._shown
        return not makes_a_clone(before) and (hidden or self.known.of(cause) is not None)


class Candidate(GraphTrials):
    """A process with something else in the place of the release; its hits are what is worse there."""

    def __init__(self, process: SubjectProcess, release: Release) -> None:
        super().__init__(process, KnownIssues(), cloners=(UPSTREAM,), at_least=release.at_least)
        self._release = release
        self._worse: dict[Key, tuple[Cause, Case]] = {}
        self._models: dict[str, bool] = {}  # whether each has a cause that counts

    def judge(self, judged: Judged) -> Judged:
        """Try everything."""
        release = self._release
        passing = release.passing(self.process.subject, self.process.search_path, release.issues)
        failing = {issue.id for issue in release.failing}
        cases = {issue.id: case_of_script(issue) for issue in release.issues if issue.fingerprint}
        models = {id_: replace(case, source=_DOCSTRING.sub("", case.source)) for id_, case in cases.items()}
        for model in models.values():
            self.try_case(model)
        others = {id_ for id_, model in models.items() if self._models.get(model.source)}
        self._draw(**release.draws)
        for key, (_, case) in list(self._worse.items()):
            if not self._is_given_up and key not in [hit.key for hit in self.try_case(case, costly=True).hits]:
                del self._worse[key]  # it came of a time limit on a busy machine, or the release hid it
        worse: list[Worse] = []
        for cause, case in sorted(self._worse.values(), key=lambda pair: pair[0].severity):
            script = f"# With what is judged in its place.\n{reproducer(case, self.generation, cause.root).text}"
            worse.append(Worse(cause.fingerprint, title(cause), DOES[cause.severity], cause.root.found, script))
        return replace(
            judged,
            versions=self.process.versions,
            models=len(self._models),
            worse=tuple(worse),
            mends=tuple(sorted((failing & passing) - others)),
            gone=tuple(sorted(failing & passing & others)),
            leaves=tuple(sorted(failing - passing)),
            breaks=tuple(sorted({issue.id for issue in release.issues} - failing - passing)),
            stopped=f"it has ended or held up its process {MOST_LOST} times" if self._is_given_up else "",
        )

    def try_case(
        self, case: Case, *, costly: bool = False, graph: Graph | None = None, timeout: float | None = None
    ) -> Trial:
        """Try a model here and on the release."""
        if self._is_given_up:
            return Trial()
        with ThreadPoolExecutor(1) as executor:
            waiting = executor.submit(self._release.trial_of, case, costly)
            trial = super().try_case(case, costly=costly, graph=graph, timeout=timeout)
            before = waiting.result()
        if not before.built or UPSTREAM not in before.clones:
            return Trial()
        self._models[case.source] = bool(trial.causes) or not trial.built
        self._release.say(f"models, {len(self._models)}")
        worse = [cause for cause in trial.causes if not self._release.has(before, cause)] + _unbuilt(trial)
        hits = [Hit(cause.fingerprint, UPSTREAM, title(cause), case, graph, cause) for cause in worse]
        for hit, cause in zip(hits, worse, strict=True):
            smallest = self._worse.get(hit.key)
            if smallest is None or len(case.source) < len(smallest[1].source):
                self._worse[hit.key] = cause, case
        return replace(trial, hits=tuple(hits))

    @property
    def _is_given_up(self) -> bool:
        return self.process.losses.total() >= MOST_LOST

    def _draw(self, *, seconds: int, models: int, seed: int) -> None:
        """Draw models, each that shows something worse made small before the next is looked for."""
        until, turns = time.monotonic() + seconds, itertools.count(seed * 1_000_003)
        while time.monotonic() < until and self.tally.drawn < models and not self._is_given_up:
            left, seen = models - self.tally.drawn, set(self._worse)
            search(self, examples=left, seed=next(turns), seen=seen, until=until, reducing=4.0)


def _unbuilt(trial: Trial) -> list[Cause]:
    """The cause where a model is not built any more; none where it is."""
    if trial.lost is not None:
        return [Cause(LOST, lost_difference(trial.lost), severity=Severity.CRASHES)]
    if trial.refused is None:
        return []
    reason = f"{trial.refused.type}: {trial.refused.message}"
    return [Cause("original-refused", NOT_BUILT.differs("model", "a model", reason, None), severity=Severity.CRASHES)]


def judge(texts: Mapping[str, str], release: Release, fixes: Collection[str], *, tests: bool) -> Iterator[Judged]:
    """The verdict on a proposal, the text of a file by its name; of several, on all of them, put one on the other.

    Before that, what each of several mends on top of those before. Those for the other Keras are left out.
    """
    subject, left, put = release.subject, release.failing, list[Proposal]()
    judged = Judged("", str(subject))
    with tempfile.TemporaryDirectory(dir=scratch()) as folder:
        copy = PrivateCopy(subject.generation, release.search_path, Path(folder))
        try:
            for name, text in texts.items():
                judged = replace(judged, name=name)
                proposal = copy.put(name, text)
                put += [proposal] if proposal.is_for(subject.generation) else []
                if proposal in put and len(texts) > 1:
                    passing = release.passing(subject, copy.search_path, left)
                    left = [issue for issue in left if issue.id not in passing]
                    ids = tuple(issue.id for issue in left)
                    yield replace(judged, fixes=proposal.mends, mends=tuple(sorted(passing)), leaves=ids)
            mends = fixes or [id_ for proposal in put for id_ in proposal.mends]
            judged = replace(judged, name=ALL if len(texts) > 1 else judged.name, fixes=tuple(mends))
            if not put:
                raise ProposalError(f"it is not for {subject.generation}")
            judged = release.judge(judged, subject, copy.search_path)
            if tests:
                passing_tests, broken = compare(copy, subject)
                judged = replace(judged, tests=passing_tests, broken=broken)
            yield judged
        except (ProposalError, SubjectError) as error:
            yield replace(judged, refused=str(error))


def diff_of(texts: Mapping[str, str], subject: Subject) -> str:
    """What proposals change, one after the other, as a unified diff against the release."""
    with tempfile.TemporaryDirectory(dir=scratch()) as folder:
        copy = PrivateCopy(subject.generation, search_path_of(subject), Path(folder))
        for name, text in texts.items():
            try:
                copy.put(name, text)
            except ProposalError as error:
                raise ProposalError(f"{name}: {error}") from error
        return copy.diff()
