"""Compares what replaces `clone_model`, a proposed fix or a change of Keras, with the untouched release.

The models of known issues are tried first, then drawn ones. A cause that the release does not show is worse: something
breaks that worked, or an exception has become a wrong clone. A cause that the release shows as well is left.
"""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import msgspec

from clonediff.harness.inside.failures import CANDIDATE_FILE
from clonediff.harness.judge.proposals import Proposal, ProposalError, apply, read_proposal
from clonediff.harness.scripts.known_scripts import case_of_script
from clonediff.harness.scripts.reproducer import reproducer
from clonediff.harness.search.hunt import search
from clonediff.harness.subjects.environment import Place
from clonediff.harness.subjects.outcomes import Ready, SubjectError
from clonediff.harness.subjects.process import Limits, SubjectProcess
from clonediff.harness.subjects.releases import commit_of, in_full, merge_base, place_of, split
from clonediff.harness.subjects.subject import BACKENDS, Subject, UnknownSubjectError
from clonediff.harness.trials.cases import case_of
from clonediff.harness.trials.checks.made import NOT_BUILT
from clonediff.harness.trials.graph_trials import Costly, GraphTrials
from clonediff.harness.trials.triage import alike, makes_a_clone, title
from clonediff.harness.trials.trial import LOST, Case, Hit, Trial, lost_difference
from clonediff.reports.known import KnownIssues
from clonediff.reports.records import DOES, UPSTREAM_AND_FIXED, Cause, Severity
from clonediff.strategies.dialects import DIALECTS
from clonediff.strategies.program import Graph

Say = Callable[[str], None]

REPORTED = """\
{import_keras}

inputs = keras.Input((1,))
first, second = keras.layers.Lambda(lambda x: [x, x])(inputs)
model = keras.Model(inputs, keras.layers.Add()([first, second]))
"""
"""The model of the bug report (keras#12202): a layer with two outputs and no mask, both of them used."""

MOST_LOST = 3
"""The processes that a candidate may take with it; after that it is not given another."""
_CLONE = re.compile(r"^clone = .*$", re.MULTILINE)


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
    actual: str
    first_on: str
    script: str
    known: str | None = None


class Judged(msgspec.Struct, frozen=True):
    """What came of a proposal, or of a change of Keras.

    `models` counts the trials of models that the release builds. `mends` and `leaves` are the known issues whose model
    is now cloned faithfully, and those whose model is not. `reported` says whether the reported bug is gone, None if
    nobody asked. `refused` says why nothing could be tried, `stopped` why not everything was.
    """

    name: str
    against: str
    versions: dict[str, str] = {}
    taken: str = ""
    refused: str = ""
    models: int = 0
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
        if self.stopped:
            return "unfinished"
        return "holds, leaves others broken" if self.left else "holds"


class CandidateProcess(SubjectProcess):
    """A subject's process in which a proposal replaces the release's own code, also after each restart."""

    def __init__(self, subject: Subject, proposal: Proposal, limits: Limits, place: Place) -> None:
        """Nothing is started until it is needed. Where the proposal is a diff, the release at `place` is patched."""
        super().__init__(subject, place=place, limits=limits)
        self._code = "" if proposal.is_diff else proposal.text
        self._changed: int | None = None

    def start(self) -> Ready:
        """Start the child, if none runs, and put the candidate in its place there."""
        try:
            ready = super().start()
            if not self._code or self.pid == self._changed:
                return ready
            cloning = self.cloning(self._code, timeout=10.0)  # its lines define functions
        except SubjectError as error:
            raise ProposalError(f"with it, {error}") from error
        self._changed = self.pid
        failure = cloning.failure
        if failure is not None:
            frames = [frame for frame in failure.frames if frame.file == CANDIDATE_FILE]
            at = f" (line {frames[-1].line}, in {frames[-1].function})" if frames else ""
            raise ProposalError(f"{failure.type}: {failure.message}{at}")
        if not cloning.replaced:
            names = ", ".join(cloning.functions)
            raise ProposalError(f"it runs, and replaces none of the release's functions ({names})")
        return ready


def reference(process: SubjectProcess, cloners: tuple[str, ...] = UPSTREAM_AND_FIXED) -> Callable[[Case], Trial]:
    """A function that tries each model once on the untouched release."""
    release = GraphTrials(process, KnownIssues(), cloners=cloners)
    trials: dict[bytes, Trial] = {}

    def trial_of(case: Case) -> Trial:
        key = msgspec.json.encode(case)
        if key not in trials:
            trials[key] = release.try_case(case)
        return trials[key]

    return trial_of


class Candidate(GraphTrials):
    """A process in which something else clones, beside the untouched release."""

    def __init__(
        self,
        process: SubjectProcess,
        on_release: Callable[[Case], Trial],
        known: KnownIssues,
        budget: JudgeBudget,
        cloner: str = UPSTREAM_AND_FIXED[0],
        in_script: Callable[[str], str] = str,
    ) -> None:
        """`known` are the issues of the release; `in_script` puts what clones into a script."""
        super().__init__(process, KnownIssues(), cloners=(cloner,))
        self._on_release, self._issues, self._budget, self._cloner = on_release, known, budget, cloner
        self._in_script = in_script
        self._worse: dict[str, tuple[Cause, str, Case]] = {}
        self._left: dict[str, tuple[Cause, str, Case]] = {}
        self._models = 0

    def judge(self, judged: Judged, say: Say, *, reported: bool) -> Judged:
        """Try everything; where it is interrupted, the verdict is on what was tried by then."""
        mends: list[str] = []
        leaves: list[str] = []
        stopped, fixed = "", None
        try:
            if reported:
                source = REPORTED.format(import_keras=DIALECTS[self.generation].imports["keras"])
                case = Case(source, ({"shape": [1], "dtype": "float32", "fill": "normal"},))
                causes = self.look(case, "the bug report")
                fixed = not any(cause.severity <= Severity.COMPUTES for cause, _ in causes)
            # What is documented is no bug to mend.
            issues = [issue for issue in self._issues.issues if issue.fingerprint and not issue.documented]
            for number, issue in enumerate(issues):
                say(f"known issues, {number} of {len(issues)}")
                case = case_of_script(issue)
                left = self.look(case, f"the known issue {issue.id}")
                if self._counted(self._on_release(case), "upstream"):
                    (leaves if left else mends).append(issue.id)
            self._draw(say)
            for id_, (_, where, case) in list(self._worse.items()):
                if id_ not in {cause.fingerprint for cause, worse in self.look(case, where) if worse}:
                    del self._worse[id_]  # it came of a time limit on a busy machine, say
        except KeyboardInterrupt:
            stopped = "interrupted"
        except _GivenUp as error:
            stopped = str(error)
        return msgspec.structs.replace(
            judged,
            models=self._models,
            worse=self._judged(self._worse),
            left=self._judged({name: left for name, left in self._left.items() if name not in self._worse}),
            mends=tuple(mends),
            leaves=tuple(leaves),
            reported=fixed,
            stopped=stopped,
        )

    def look(self, case: Case, where: str) -> list[tuple[Cause, bool]]:
        """Try a model: each cause that counts, and whether it is worse than in the release."""
        causes = list(self._against_release(case))
        for cause, worse in causes:
            smallest = self._worse if worse else self._left
            _, first_on, smaller = smallest.get(cause.fingerprint, (cause, where, None))
            if smaller is None or len(case.source) < len(smaller.source):
                smallest[cause.fingerprint] = cause, first_on, case
        return causes

    def try_graph(self, graph: Graph, *, costly: Costly = None) -> Trial:
        """Try a graph that was drawn; what is worse there is worth making smaller."""
        case = case_of(graph)
        causes = [cause for cause, worse in self.look(case, "a drawn model") if worse]
        return Trial(hits=tuple(Hit(cause.fingerprint, "worse", title(cause), case, graph, cause) for cause in causes))

    def _against_release(self, case: Case) -> Iterator[tuple[Cause, bool]]:
        if self.process.losses.total() >= MOST_LOST:
            raise _GivenUp(f"it has ended or held up its process {MOST_LOST} times: given up")
        with ThreadPoolExecutor(1) as executor:
            waiting = executor.submit(self._on_release, case)
            trial = self.try_case(case)
            release = waiting.result()
        if not release.built:
            return
        self._models += 1
        if not trial.built:
            yield _unbuilt(trial), True
            return
        before = release.clones["upstream"].causes
        # What `fixed` breaks, too, does not count against a proposal.
        fixed = release.clones["fixed"].causes if "fixed" in release.clones else ()
        for cause in self._counted(trial, self._cloner):
            known = self._issues.of(cause)
            if (known is not None and known.documented) or _is_among(cause, fixed):
                continue
            # If the release makes no clone, then a known issue that shows now was hidden, and a crash is no worse.
            excused = not makes_a_clone(before) and (known is not None or cause.severity is Severity.CRASHES)
            yield cause, not (_is_among(cause, before) or excused)

    def _counted(self, trial: Trial, cloner: str) -> list[Cause]:
        causes = trial.clones[cloner].causes if cloner in trial.clones else ()
        return [cause for cause in causes if cause.severity <= self._budget.at_least]

    def _draw(self, say: Say) -> None:
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
                after_each=lambda: say(f"drawn models, {self.tally.drawn}"),
                reducing=4.0,
            )
            turn += 1
            if hit is not None:
                keys.add(hit.key)

    def _judged(self, causes: dict[str, tuple[Cause, str, Case]]) -> tuple[JudgedCause, ...]:
        """The causes, the worst first."""
        judged = []
        for cause, where, case in sorted(causes.values(), key=lambda entry: entry[0].severity):
            known, root = self._issues.of(cause), cause.root
            script = self._in_script(reproducer(case, self.generation, root).text)
            words = cause.fingerprint, title(cause), DOES[cause.severity], root.found, where, script
            judged.append(JudgedCause(*words, known=None if known is None else known.id))
        return tuple(judged)


class _GivenUp(Exception):
    """A candidate has cost too many processes."""


def _is_among(cause: Cause, causes: tuple[Cause, ...]) -> bool:
    """Whether one of the others breaks alike, and no less comes of it."""
    return any(alike(cause, known) and known.severity <= cause.severity for known in causes)


def _unbuilt(trial: Trial) -> Cause:
    """A model that the untouched release builds, and this process no longer does."""
    if trial.lost is not None:
        return Cause(LOST, lost_difference(trial.lost), severity=Severity.CRASHES)
    reason = f"{trial.refused.type}: {trial.refused.message}" if trial.refused else "no answer"
    difference = NOT_BUILT.differs("model", "a model", reason, None)
    return Cause("original-refused", difference, severity=Severity.CRASHES)


def judge_proposals(
    texts: Mapping[str, str], subject: Subject, known: KnownIssues, budget: JudgeBudget, say: Say
) -> Iterator[Judged]:
    """The verdict on each proposal, the text of a file by its name, as it comes."""
    place = place_of(subject)
    with SubjectProcess(subject, place=place, limits=budget.limits) as release:
        cloning = release.cloning()
        trial_of = reference(release)
        known = known.on(subject.generation, release.ready.keras)
        for name, text in texts.items():
            judged = Judged(name, str(subject), release.versions)
            try:
                proposal = read_proposal(name, text, cloning.functions)
                judged = msgspec.structs.replace(judged, taken=proposal.part)
                with tempfile.TemporaryDirectory(prefix="clonediff-") as private:
                    if proposal.is_diff:
                        apply(proposal.text, Path(cloning.package), Path(private))
                    first = (private,) if proposal.is_diff else ()
                    with CandidateProcess(subject, proposal, budget.limits, (*first, *place)) as process:
                        in_script = partial(_in_script, proposal, cloning.module)
                        candidate = Candidate(process, trial_of, known, budget, "candidate", in_script)
                        judged = candidate.judge(judged, say, reported=True)
            except ProposalError as error:
                judged = msgspec.structs.replace(judged, refused=str(error))
            yield judged
            if judged.stopped == "interrupted":
                return


def _in_script(proposal: Proposal, module: str, script: str) -> str:
    """A script in which a module of the release clones as is proposed."""
    if proposal.is_diff:
        return f"# Run it on the patched release.\n{script}"
    proposed = (
        f"PROPOSED = {proposal.text.strip()!r}\n\nimport importlib\n\n"
        f'cloning = importlib.import_module("{module}")\nexec(PROPOSED, vars(cloning))\n\n'
        "clone = cloning.clone_model(model)"
    )
    return _CLONE.sub(lambda match: proposed, script, count=1)


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


def judge_change(base: Subject, head: Subject, known: KnownIssues, budget: JudgeBudget, say: Say) -> Judged:
    """The verdict on the change from one tree to another."""
    say("starting both")
    with (
        SubjectProcess(base, place=place_of(base), limits=budget.limits) as before,
        SubjectProcess(head, place=place_of(head), limits=budget.limits) as after,
    ):
        issues = known.on(base.generation, before.ready.keras)
        candidate = Candidate(after, reference(before, UPSTREAM_AND_FIXED[:1]), issues, budget)
        return candidate.judge(Judged(str(head), str(base), after.versions), say, reported=False)
