"""Compare a release with proposed fixes, or with a change to Keras.

The scripts of known issues run on both; then their models and drawn models are tried on both. A known issue is fixed if
its script passes and its model is cloned faithfully; hidden if its script passes, but its model shows another bug; else
unfixed. A regression is a script that passes only on the release, or a cause that only the new code shows on a model.
If the release cannot clone that model, a crash or a cause that is not new is no regression.
"""

from __future__ import annotations

import itertools
import re
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import msgspec
from msgspec.structs import replace

from clonediff.harness.judge.edits import PrivateCopy
from clonediff.harness.judge.keras_tests import compare_tests
from clonediff.harness.judge.proposals import Proposal, ProposalError
from clonediff.harness.scripts.known_scripts import case_of_script
from clonediff.harness.scripts.reproducer import Script, reproducer
from clonediff.harness.scripts.runner import ReplayAnswer, ScriptRunner
from clonediff.harness.search.search import search
from clonediff.harness.subjects.child import scratch_folder
from clonediff.harness.subjects.environment import SearchPath
from clonediff.harness.subjects.outcomes import SubjectError
from clonediff.harness.subjects.process import Limits, SubjectProcess
from clonediff.harness.subjects.releases import search_path_of
from clonediff.harness.subjects.subject import Subject
from clonediff.harness.trials.checks.failures import NOT_BUILT
from clonediff.harness.trials.graph_trials import UPSTREAM, GraphTrials
from clonediff.harness.trials.triage import fingerprint, is_clone_made, is_same_bug, title
from clonediff.harness.trials.trial import LOST_FINGERPRINT, Case, Key, Trial, TrialCause, process_difference
from clonediff.reports.known import KnownIssue, KnownIssues
from clonediff.reports.records import EFFECTS, Cause, Severity
from clonediff.strategies.program import Graph

SERIES = "all of them"  # the name of the verdict on a series
LIMITS = Limits(trial=15.0, cloning=0)
MAX_LOSSES = 3  # how many processes the judged code may end or block
_DOCSTRING = re.compile(r'\A"""[\s\S]*?"""\s*')
_JSON_NAMES = {"release": "against", "unfixed": "left", "regressions": "worse", "broken_scripts": "breaks"}
_JSON_NAMES |= {"model_count": "models", "test_count": "tests"}


class Regression(msgspec.Struct, frozen=True, rename={"found": "actual"}):
    """A cause that only judged code shows, with a script."""

    id: str
    title: str
    severity: str
    found: str
    script: str


class JudgeVerdict(msgspec.Struct, frozen=True, rename=_JSON_NAMES):
    """The verdict on a proposal or a change to Keras.

    `should_fix` has ids of known issues. `fixed`, `hidden` and `unfixed` have ids of scripts that fail on the release,
    `broken_scripts` only with the proposal. `test_count` counts tests that pass on the release; `broken_tests` fail
    with the proposal. `refused` and `stopped` say why not all was tried.
    """

    name: str
    release: str
    versions: dict[str, str] = {}
    should_fix: tuple[str, ...] = ()
    refused: str = ""
    model_count: int = 0
    regressions: tuple[Regression, ...] = ()
    fixed: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    unfixed: tuple[str, ...] = ()
    broken_scripts: tuple[str, ...] = ()
    test_count: int | None = None
    broken_tests: tuple[str, ...] = ()
    stopped: str = ""

    @property
    def missed_issues(self) -> tuple[str, ...]:
        return tuple(id_ for id_ in self.should_fix if id_ in (*self.unfixed, *self.broken_scripts))

    @property
    def summary(self) -> str:
        """The verdict in a few words; "passes" if it fixes what it should, and breaks nothing."""
        problems = {
            "does not load": self.refused,
            "causes regressions": self.regressions or self.broken_scripts or self.broken_tests,
            f"does not fix {', '.join(self.missed_issues)}": self.missed_issues,
            "unfinished": self.stopped,
        }
        return next((text for text, applies in problems.items() if applies), "passes")


class Baseline:
    """A release: the scripts that fail on it, and its causes."""

    def __init__(
        self, subject: Subject, known: KnownIssues, say: Callable[[str], None], at_least: Severity, **options: int
    ) -> None:
        """`options` has the `seconds` for drawing, the most `models` to draw, and the `seed`."""
        self.subject, self.say, self.at_least, self.draw_options = subject, say, at_least, options
        self.search_path = search_path_of(subject)
        self.known = known.select(subject.generation)
        self.issues = [issue for issue in self.known.issues if issue.script]
        self.process = SubjectProcess(subject, search_path=self.search_path, limits=LIMITS)
        self._trials = GraphTrials(self.process, KnownIssues())
        self._seen_fingerprints: set[str] = set()
        passing_ids = self.run_scripts(subject, self.search_path, self.issues)
        self.failing_issues = [issue for issue in self.issues if issue.id not in passing_ids]

    def run_scripts(self, subject: Subject, search_path: SearchPath, issues: Collection[KnownIssue]) -> set[str]:
        """The ids of issues whose scripts pass with this search path."""
        ids: set[str] = set()
        import_script = Script(f"import {subject.generation}\n", "ImportError", must_fail=True)
        with closing(ScriptRunner(subject, search_path)) as runner:
            if runner.answer(import_script)[0] is not ReplayAnswer.GONE:
                SubjectProcess(subject, search_path=search_path).start()  # raises with the reason
            for number, issue in enumerate(issues):
                self.say(f"scripts of known issues, {number} of {len(issues)}")
                if runner.answer(Script(issue.script, issue.raises, must_fail=True))[0] is ReplayAnswer.GONE:
                    ids.add(issue.id)
        return ids

    def judge(self, verdict: JudgeVerdict, subject: Subject, search_path: SearchPath) -> JudgeVerdict:
        """Complete the verdict on the code of a search path."""
        with SubjectProcess(subject, search_path=search_path, limits=LIMITS) as process:
            return Candidate(process, self).judge(verdict)

    def try_case(self, case: Case, costly: bool) -> Trial:
        """Try a case on the release, and remember its causes."""
        trial = self._trials.try_case(case, costly=costly)
        for cause in trial.clones[UPSTREAM].causes if UPSTREAM in trial.clones else ():
            self._seen_fingerprints |= set(map(fingerprint, cause.differences))
        return trial

    def shows(self, trial: Trial, cause: Cause) -> bool:
        """Whether a trial of the release shows a cause, or a crash may hide it."""
        release_causes = trial.clones[UPSTREAM].causes
        fingerprints = {fingerprint(item) for other in release_causes for item in other.differences}
        causes = [item for clone in trial.clones.values() for item in clone.causes if item.severity <= cause.severity]
        if cause.fingerprint in fingerprints or any(is_same_bug(cause, other) for other in causes):
            return True
        is_hidden = cause.severity is Severity.CRASH or cause.fingerprint in self._seen_fingerprints
        return not is_clone_made(release_causes) and (is_hidden or self.known.find(cause) is not None)


class Candidate(GraphTrials):
    """Trials of judged code. A cause that the release does not show is a regression."""

    def __init__(self, process: SubjectProcess, baseline: Baseline) -> None:
        super().__init__(process, KnownIssues(), cloners=(UPSTREAM,), at_least=baseline.at_least)
        self._baseline = baseline
        self._regressions: dict[Key, tuple[Cause, Case]] = {}
        self._models: dict[str, bool] = {}  # by source: whether a cause shows

    def judge(self, verdict: JudgeVerdict) -> JudgeVerdict:
        """Run the scripts, try models, and complete the verdict."""
        baseline = self._baseline
        passing_ids = baseline.run_scripts(self.process.subject, self.process.search_path, baseline.issues)
        failing_ids = {issue.id for issue in baseline.failing_issues}
        cases = {issue.id: case_of_script(issue) for issue in baseline.issues if issue.fingerprint}
        models = {id_: replace(case, source=_DOCSTRING.sub("", case.source)) for id_, case in cases.items()}
        for model in models.values():
            self.try_case(model)
        unfaithful_ids = {id_ for id_, model in models.items() if self._models.get(model.source)}
        self._draw(**baseline.draw_options)
        for key, (_, case) in list(self._regressions.items()):
            if not self._gave_up and key not in [item.key for item in self.try_case(case, costly=True).found_causes]:
                del self._regressions[key]  # a timeout, or the release has shown it since
        items: list[Regression] = []
        for cause, case in sorted(self._regressions.values(), key=lambda pair: pair[0].severity):
            script = f"# Run it with the judged code.\n{reproducer(case, self.generation, cause.root).text}"
            items.append(Regression(cause.fingerprint, title(cause), EFFECTS[cause.severity], cause.root.found, script))
        return replace(
            verdict,
            versions=self.process.versions,
            model_count=len(self._models),
            regressions=tuple(items),
            fixed=tuple(sorted((failing_ids & passing_ids) - unfaithful_ids)),
            hidden=tuple(sorted(failing_ids & passing_ids & unfaithful_ids)),
            unfixed=tuple(sorted(failing_ids - passing_ids)),
            broken_scripts=tuple(sorted({issue.id for issue in baseline.issues} - failing_ids - passing_ids)),
            stopped=f"it crashed or blocked its process {MAX_LOSSES} times" if self._gave_up else "",
        )

    def try_case(
        self, case: Case, *, costly: bool = False, graph: Graph | None = None, timeout: float | None = None
    ) -> Trial:
        """Try a model on the judged code and on the release."""
        if self._gave_up:
            return Trial()
        with ThreadPoolExecutor(1) as executor:
            future = executor.submit(self._baseline.try_case, case, costly)
            trial = super().try_case(case, costly=costly, graph=graph, timeout=timeout)
            old_trial = future.result()
        if not old_trial.is_built or UPSTREAM not in old_trial.clones:
            return Trial()
        self._models[case.source] = bool(trial.causes) or not trial.is_built
        self._baseline.say(f"models, {len(self._models)}")
        causes = [cause for cause in trial.causes if not self._baseline.shows(old_trial, cause)] + _crashes(trial)
        found = tuple(TrialCause(cause.fingerprint, UPSTREAM, title(cause), case, graph, cause) for cause in causes)
        for key, cause in zip((item.key for item in found), causes, strict=True):
            smallest = self._regressions.get(key)
            if smallest is None or len(case.source) < len(smallest[1].source):
                self._regressions[key] = cause, case
        return replace(trial, found_causes=found)

    @property
    def _gave_up(self) -> bool:
        return self.process.losses.total() >= MAX_LOSSES

    def _draw(self, *, seconds: int, models: int, seed: int) -> None:
        """Draw models, and reduce the model of each regression."""
        deadline, seeds = time.monotonic() + seconds, itertools.count(seed * 1_000_003)
        while time.monotonic() < deadline and self.tally.drawn < models and not self._gave_up:
            count, seen = models - self.tally.drawn, set(self._regressions)
            search(self, max_graphs=count, seed=next(seeds), seen=seen, deadline=deadline, reducing_seconds=4.0)


def _crashes(trial: Trial) -> list[Cause]:
    if trial.lost is not None:
        return [Cause(LOST_FINGERPRINT, process_difference(trial.lost), severity=Severity.CRASH)]
    if trial.refusal is None:
        return []
    reason = f"{trial.refusal.type}: {trial.refusal.message}"
    return [Cause("original-refused", NOT_BUILT.difference("model", "a model", reason, None), severity=Severity.CRASH)]


def judge(texts: Mapping[str, str], baseline: Baseline, fixes: Sequence[str], *, tests: bool) -> Iterator[JudgeVerdict]:
    """Judge proposals (texts by file name), applied one after another.

    If there are several, first yield what each of them fixes beyond those before it.
    """
    subject, unfixed, applied = baseline.subject, baseline.failing_issues, list[Proposal]()
    verdict = JudgeVerdict("", str(subject))
    with tempfile.TemporaryDirectory(dir=scratch_folder()) as folder:
        version = baseline.process.versions[subject.generation]
        copy = PrivateCopy(subject.generation, baseline.search_path, Path(folder), version)
        try:
            for name, text in texts.items():
                verdict = replace(verdict, name=name)
                proposal = copy.apply(name, text)
                if proposal.is_for(subject.generation, version):
                    applied.append(proposal)
                elif len(texts) > 1 and proposal.is_for(subject.generation):
                    yield replace(verdict, refused=f"it is for {proposal.releases}")
                if proposal in applied and len(texts) > 1:
                    passing_ids = baseline.run_scripts(subject, copy.search_path, unfixed)
                    unfixed = [issue for issue in unfixed if issue.id not in passing_ids]
                    ids = tuple(issue.id for issue in unfixed)
                    yield replace(verdict, should_fix=proposal.fixes, fixed=tuple(sorted(passing_ids)), unfixed=ids)
            should_fix = fixes or [id_ for proposal in applied for id_ in proposal.fixes]
            verdict = replace(verdict, name=SERIES if len(texts) > 1 else verdict.name, should_fix=tuple(should_fix))
            if not applied:
                raise ProposalError(f"it is for {proposal.releases}: choose another --subject")
            verdict = baseline.judge(verdict, subject, copy.search_path)
            if tests:
                test_count, broken_tests = compare_tests(copy, subject)
                verdict = replace(verdict, test_count=test_count, broken_tests=broken_tests)
            yield verdict
        except (ProposalError, SubjectError) as error:
            yield replace(verdict, refused=str(error))


def diff_of(texts: Mapping[str, str], subject: Subject) -> str:
    """All proposals as one unified diff against the release."""
    with tempfile.TemporaryDirectory(dir=scratch_folder()) as folder:
        copy = PrivateCopy(subject.generation, search_path_of(subject), Path(folder))
        for name, text in texts.items():
            try:
                copy.apply(name, text)
            except ProposalError as error:
                raise ProposalError(f"{name}: {error}") from error
        return copy.diff()
