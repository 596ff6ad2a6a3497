"""A change of Keras, judged: two trees, tried on the same graphs, each with its own `clone_model`.

Worse is what the changed tree does to a graph and the other does not, if it shows again in processes of its own; known
or not, it is new there. Owns that rule, and what of the known issues is mended, left or new. What a cause is against
what was there before, `effects` says, as for any candidate.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing

import msgspec

from clonediff.harness.judge.effects import WORSE, FixEffect, KnownBugs
from clonediff.harness.judge.graphs import known_models
from clonediff.harness.judge.record import JudgedCause
from clonediff.harness.judge.trying import Candidate, CauseOnGraphs, GivenUpError, JudgeBudget, Reference, Say
from clonediff.harness.judge.verdicts import in_order, judged_cause
from clonediff.harness.scripts.forked import ForkedScripts
from clonediff.harness.scripts.known_scripts import IssueAnswer, answer_of
from clonediff.harness.scripts.reproducer import reproducer
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.subjects.releases import place_of
from clonediff.harness.subjects.subject import Subject
from clonediff.reports.known import KnownIssue, KnownIssues
from clonediff.reports.records import AT_LEAST, FORMAT, Severity

UPSTREAM = "upstream"
_CHANGED = ("mended", "brought", "untold")
"""Where a known issue belongs that is not in both trees: that is seen twice."""
_WITHOUT_A_CLONE = (FixEffect.OTHERWISE, FixEffect.LOSES_NOW)
_PART, _TOLD = 0.8, 0.95
"""So much of the time goes into graphs, and up to that into known issues; the rest into trying again what differs."""


class NamedIssue(msgspec.Struct, frozen=True):
    """A known issue, by name. `severity` is the worst that its example did where it showed."""

    id: str
    title: str
    link: str | None = None
    severity: Severity = Severity.CRASHES


class TreesJudged(msgspec.Struct, frozen=True):
    """What a change does. `tried` counts the graphs that could be built before it.

    `worse` are causes that are new, `lost` those of them that only lose a property or a name; `scripts` has the plain
    scripts of both by their ids, and `known` the known issues that explain them. `otherwise` are causes that show where
    there was no clone before. `brought` are other known issues that are new, `untold` those that can no longer be seen.
    `unsteady` counts what was worse once and not again. `stopped` says why not everything was tried. What is less
    severe than `at_least` is said, and does not speak against the change.
    """

    base: str
    head: str
    versions: dict[str, str] = {}
    tried: int = 0
    worse: tuple[JudgedCause, ...] = ()
    lost: tuple[JudgedCause, ...] = ()
    scripts: dict[str, str] = {}
    known: dict[str, str] = {}
    brought: tuple[NamedIssue, ...] = ()
    otherwise: tuple[JudgedCause, ...] = ()
    mended: tuple[NamedIssue, ...] = ()
    left: tuple[NamedIssue, ...] = ()
    untold: tuple[NamedIssue, ...] = ()
    unsteady: int = 0
    stopped: str = ""
    at_least: str = "trains"
    seconds: float = 0.0
    format: int = FORMAT

    @property
    def holds(self) -> bool:
        """Whether nothing that is severe enough is worse, of all that was to be tried."""
        least = AT_LEAST[self.at_least]
        severities = [each.severity for each in (*self.worse, *self.lost)] + [each.severity for each in self.brought]
        return not self.stopped and all(severity > least for severity in severities)


class TwoTrees:
    """Judges what `head` makes of `base`. `judged` says what is known by then, also after an interrupt."""

    def __init__(
        self,
        base: Subject,
        head: Subject,
        known: KnownIssues,
        budget: JudgeBudget,
        say: Say,
        at_least: str = "trains",
    ) -> None:
        """Nothing is started yet."""
        self._base, self._head = base, head
        self._known = known
        self._budget = budget
        self._say = say
        self._at_least = at_least
        self._candidate: Candidate | None = None
        self._sure: list[CauseOnGraphs] = []
        self._unsteady = 0
        self._issues: dict[str, list[tuple[KnownIssue, Severity]]] = {}
        self._versions: dict[str, str] = {}
        self._stopped = "interrupted"
        self._began = time.monotonic()

    def judge(self) -> TreesJudged:
        """Try all that there is to try."""
        generation = self._head.generation
        self._say("starting both", 0.0)
        with ExitStack() as running:
            base, head = (running.enter_context(self._process(each)) for each in (self._base, self._head))
            self._versions = head.versions
            self._candidate = candidate = self._pair(base, head)
            graphs = known_models(self._known, generation, base.ready.keras)
            with candidate.reference.ahead(graphs.values()):
                candidate.try_all(graphs, self._budget, lambda what, part: self._say(what, part * _PART))
            self._compare_issues(self._known.on(generation).issues, base, head)
        self._say("trying again what differs", _TOLD)
        given_up = self._try_again([each for each in in_order(candidate) if each.effect in WORSE])
        self._stopped = given_up or candidate.stopped
        return self.judged()

    def judged(self) -> TreesJudged:
        """What is known by now."""
        shown = in_order(self._candidate) if self._candidate is not None else []
        graphs = self._candidate.graphs.values() if self._candidate is not None else ()
        known = self._explained()
        issues = {
            where: tuple(
                NamedIssue(each.id, each.title, each.link, severity)
                for each, severity in sorted(its, key=lambda its: its[1])
                if not self._told_as_worse(each, severity, known)
            )
            for where, its in self._issues.items()
        }
        sure = list(map(judged_cause, self._sure))
        return TreesJudged(
            base=str(self._base),
            head=str(self._head),
            versions=self._versions,
            tried=sum(each.built for each in graphs),
            worse=tuple(each for each in sure if each.effect is not FixEffect.LOSES),
            lost=tuple(each for each in sure if each.effect is FixEffect.LOSES),
            # One cause may break one graph and lose a property on another: the worst comes first, and its script stays.
            scripts={each.cause.fingerprint: self._script(each) for each in reversed(self._sure)},
            otherwise=tuple(judged_cause(each) for each in shown if each.effect in _WITHOUT_A_CLONE),
            unsteady=self._unsteady,
            stopped=self._stopped,
            at_least=self._at_least,
            seconds=round(time.monotonic() - self._began, 1),
            known=known,
            **issues,  # type: ignore[arg-type]  # none of these is a number
        )

    def _process(self, subject: Subject) -> SubjectProcess:
        return SubjectProcess(subject, place=place_of(subject), limits=self._budget.limits)

    def _pair(self, base: SubjectProcess, head: SubjectProcess) -> Candidate:
        reference = Reference(base, cloners=(UPSTREAM,))
        bugs = KnownBugs(upstream=self._known.on(self._base.generation))
        return Candidate(head, reference, bugs, cloner=UPSTREAM, shared=False)

    def _compare_issues(
        self, issues: Sequence[KnownIssue], base: SubjectProcess, head: SubjectProcess, part: float = _PART
    ) -> None:
        """See which known issues each of the trees has, by their scripts. `part` is how much is done by then."""
        with ExitStack() as running, ThreadPoolExecutor(2) as both:
            trees = [running.enter_context(closing(ForkedScripts(each.subject, each.place))) for each in (base, head)]
            for number, issue in enumerate(issues):
                done = part + (_TOLD - part) * number / len(issues)
                self._say(f"known issues, {number} of {len(issues)}", done)
                answers = list(both.map(functools.partial(_breaks, issue), trees))
                where = _became(*answers)
                if where:
                    self._issues.setdefault(where, []).append((issue, issue.severity))

    def _explained(self) -> dict[str, str]:
        """For what is worse, the known issue that is new with it."""
        causes = [each.cause for each in self._sure]
        new = [issue for issue, _ in self._issues.get("brought", ())]
        return {each.fingerprint: issue.id for each in causes for issue in new if issue.explains(each)}

    def _told_as_worse(self, issue: KnownIssue, severity: Severity, known: Mapping[str, str]) -> bool:
        """Whether a cause that is worse has an issue's name, and is as severe as its example."""
        its = (each.cause for each in self._sure if known.get(each.cause.fingerprint) == issue.id)
        return any(cause.severity <= severity for cause in its)

    def _try_again(self, shown: Sequence[CauseOnGraphs]) -> str:
        """Keep what shows again in other processes. Whatever depends on what ran before is nothing to report.

        What it returns says why it was given up, and is "" where it was not.
        """
        changed = [issue for where in _CHANGED for issue, _ in self._issues.get(where, ())]
        if not shown and not changed:
            return ""
        with ExitStack() as running:
            base, head = (running.enter_context(self._process(each)) for each in (self._base, self._head))
            self._compare_again(changed, base, head)
            again = self._pair(base, head)
            for each in shown:
                try:
                    causes = again.try_from(each.smallest.graph, each.first_on).causes
                except GivenUpError as error:
                    return str(error)
                if (each.effect, each.cause.fingerprint) in {(effect, cause.fingerprint) for cause, effect in causes}:
                    each.reproduced = True
                    self._sure.append(each)
                else:
                    self._unsteady += 1
        return ""

    def _compare_again(self, changed: Sequence[KnownIssue], base: SubjectProcess, head: SubjectProcess) -> None:
        """Compare issues for the second time. Until that ends, the first time counts."""
        once = self._issues
        try:
            self._issues = {where: list(its) for where, its in once.items() if where not in _CHANGED}
            self._compare_issues(changed, base, head, _TOLD)
        except BaseException:
            self._issues = once
            raise

    def _script(self, shown: CauseOnGraphs) -> str:
        case = shown.smallest.case
        return reproducer(case.source, self._head.generation, shown.cause.root, UPSTREAM, case).text


def _breaks(issue: KnownIssue, scripts: ForkedScripts) -> bool | None:
    """Whether the script of an issue fails as it should; None where that cannot be told."""
    answer, _ = answer_of(issue, scripts)
    return {IssueAnswer.BREAKS: True, IssueAnswer.GONE: False}.get(answer)


def _became(before: bool | None, after: bool | None) -> str:
    """Where a known issue belongs, by whether it shows in each tree; None where that cannot be told."""
    if before:
        return "left" if after else "untold" if after is None else "mended"
    return "brought" if after and before is False else ""
