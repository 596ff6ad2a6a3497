"""Judging from one end to the other: the reference, then each candidate, into a run's folder.

A candidate goes one way: it is read, laid out, loaded, tried on all stages, becomes a verdict, and the verdict a text.
Owns what is started and ended, and what is written when: a verdict stands in its file as soon as there is one, so that
whoever interrupts has all that was known by then.
"""

from __future__ import annotations

import re
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from clonediff.harness.judge.effects import FixEffect, KnownBugs
from clonediff.harness.judge.known_graphs import known_graphs
from clonediff.harness.judge.own_tests import find_suite, outcome, work
from clonediff.harness.judge.patching import PatchError, apply, read_diff
from clonediff.harness.judge.processes import CandidateProcess, NotLoadedError, Reference
from clonediff.harness.judge.reading import Proposal, read_proposal
from clonediff.harness.judge.record import Judged, OwnTests
from clonediff.harness.judge.scripts import RunEnded, ScriptRuns, changed_statements, script_for, text_of
from clonediff.harness.judge.stages import JudgeBudget, try_all
from clonediff.harness.judge.text import everything, sentence
from clonediff.harness.judge.trying import DRAWN, Candidate, CauseOnGraphs
from clonediff.harness.judge.verdicts import in_order, judged_cause, with_causes, with_counts, with_scripts, with_stages
from clonediff.harness.subjects.outcomes import CloningFunctions, SubjectError
from clonediff.harness.subjects.place import ReleasePlace
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.subjects.subject import Subject
from clonediff.reports.known import KnownIssues
from clonediff.reports.records import write, write_bytes
from clonediff.reports.run_folder import RunFolder

_SUFFIXES = {"diff": ".diff", "python": ".py", "release": ".py", "text": ".txt"}
_TESTS_LIMIT = 180.0
_TESTS_SLOWER = 4.0
"""How many times longer than without a candidate the release's own tests may take with one."""

_TESTS_AT_LEAST = 60.0
"""The seconds that they may take in any case: most of it is starting TensorFlow, which depends on what else runs."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A proposal ready to be tried: where it runs, what is put in place there, how it stands in a script."""

    place: ReleasePlace
    pieces: tuple[dict[str, Any], ...]
    proposed: str
    note: str = ""
    left_out: tuple[str, ...] = ()


@dataclass(slots=True)
class JudgedCandidate:
    """A verdict, what it was made of, and what of it still runs. A reference has no folder of its own."""

    judged: Judged
    folder: Path | None = None
    candidate: Candidate | None = None
    scripts: dict[tuple[FixEffect, str], Future[bool | None]] = field(default_factory=dict)
    tests: Future[RunEnded] | None = None
    tests_folder: Path | None = None


class JudgeSession:
    """Judges candidates, one after the other, against one release."""

    def __init__(
        self,
        subject: Subject,
        place: ReleasePlace,
        folder: RunFolder,
        budget: JudgeBudget,
        known: KnownIssues,
        say: Callable[[str, float], None],
    ) -> None:
        """`say` hears what is being done, and which part of the candidate at hand that is."""
        self.subject, self.place, self.folder, self.budget = subject, place, folder, budget
        self.candidates: list[JudgedCandidate] = []
        self.versions: dict[str, str] = {}
        self._say = say
        self._known = known
        self._process = SubjectProcess(subject, place=place, limits=budget.limits, journal=folder.journal("reference"))
        self._reference = Reference(self._process)
        self._runs = ScriptRuns()
        self._scratch = Path(tempfile.mkdtemp(prefix="clonediff-judge-"))
        self._baseline: OwnTests | None = None
        self._tests_limit = _TESTS_LIMIT

    def open(self) -> None:
        """Start the untouched release, ask it what it clones with, and run its own tests once."""
        self._say("starting the release", 0.0)
        ready = self._process.start()
        cloning = self._process.cloning()
        if not isinstance(cloning, CloningFunctions):
            raise SubjectError(f"{self.subject}: lost while it was asked what it clones with")
        self.cloning = cloning
        self.versions = self._process.versions
        self._bugs = KnownBugs.of(self._known, self.subject.generation, ready.keras)
        self._graphs = known_graphs(self._known, self.subject.generation)
        self._say("looking for the release's own tests", 0.0)
        self._suite = find_suite(self.subject, self.place, ready.keras, Path(cloning.file), ready.python)
        self._tests_alone = self._tests(self.place, ())

    def references(self) -> None:
        """Try the release's own code and the fixed cloner as a candidate is tried: they come first."""
        for cloner in self._reference.cloners:
            began = time.monotonic()
            candidate = Candidate(self._process, self._reference, self._bugs, cloner=cloner, shared=False)
            one = JudgedCandidate(replace(self._blank(cloner, "reference"), loads=True), candidate=candidate)
            stages = try_all(candidate, self._graphs, self.budget, self._say, fresh=False)
            one.judged = with_causes(with_stages(one.judged, candidate, stages), candidate)
            self._add(one, began)
        own = OwnTests(self._suite.note)
        if self._tests_alone is not None:
            folder, tests = self._tests_alone
            self._say("the release's own tests, without a candidate", 0.9)
            ended = tests.result()
            own = self._baseline = outcome(self._suite, folder, ended.said, None)
            self._tests_limit = max(_TESTS_AT_LEAST, _TESTS_SLOWER * ended.seconds)
        self.candidates[0].judged = replace(self.candidates[0].judged, own_tests=own)

    def judge(self, name: str, text: str, proposal: Proposal | None = None) -> Judged:
        """Judge one candidate. Its scripts and the release's tests may still run when this returns: see `settle`."""
        began = time.monotonic()
        proposal = proposal or read_proposal(name, text, self.cloning.functions)
        folder = self.folder.path / "candidates" / self._label(name)
        write_bytes(folder / f"candidate{_SUFFIXES[proposal.form]}", text.encode())
        blank = replace(self._blank(name, proposal.form), candidate=folder.name, taken=proposal.taken)
        one = JudgedCandidate(blank, folder)
        try:
            if proposal.problem:
                one.judged = replace(one.judged, refused=proposal.problem)
            else:
                self._try(one, folder, self._prepared(proposal, folder), proposal.name)
        except PatchError as error:
            one.judged = replace(one.judged, refused=f"the diff does not apply: {error}")
        except NotLoadedError as error:
            one.judged = replace(one.judged, loads=False, refused=str(error))
        self._add(one, began)
        return one.judged

    def settle(self) -> None:
        """Wait for scripts and tests, and write what came of them.

        The release and the fixed cloner have by then been tried on what was drawn for the candidates as well.
        """
        for number, one in enumerate(self.candidates):
            self._say("running the scripts on their own", number / len(self.candidates))
            if one.candidate is not None and one.folder is None:
                for graph in self._reference.graphs():
                    one.candidate.try_from(graph, DRAWN)
                one.judged = with_causes(one.judged, one.candidate)
            fails = {mark: run.result() for mark, run in one.scripts.items()}
            if one.candidate is not None and fails:
                its = (replace(each, reproduced=fails.get((each.effect, each.id))) for each in one.judged.breaks)
                wrong = {mark for mark, shown in fails.items() if shown is False}
                one.judged = with_counts(replace(one.judged, breaks=tuple(its)), one.candidate, wrong)
            if one.tests is not None and one.tests_folder is not None:
                own = outcome(self._suite, one.tests_folder, one.tests.result().said, self._baseline)
                one.judged = replace(one.judged, own_tests=own)
            elif one.judged.loads and one.judged.own_tests is None:
                one.judged = replace(one.judged, own_tests=OwnTests(self._suite.note or "not run"))
            one.judged = replace(one.judged, sentence=sentence(one.judged))
            self._write(one)

    def write_summary(self, about: str) -> Path:
        """Write all that is said of all candidates into the folder."""
        path = self.folder.path / "summary.txt"
        write_bytes(path, everything([one.judged for one in self.candidates], about).encode())
        return path

    def close(self, *, interrupted: bool = False) -> None:
        """End every process."""
        self._runs.close(at_once=interrupted)
        self._process.close()
        shutil.rmtree(self._scratch, ignore_errors=True)

    # -- one candidate

    def _prepared(self, proposal: Proposal, folder: Path) -> Prepared:
        pieces = tuple(piece.request() for piece in proposal.pieces)
        if not proposal.diff:
            return Prepared(self.place, pieces, text_of(proposal.pieces))
        package, file = Path(self.cloning.package), Path(self.cloning.file)
        private = folder.resolve() / "patched"
        applied = apply(read_diff(proposal.diff), package, private)
        place = replace(self.place, path=(str(private), *self.place.path))
        own = private / file.relative_to(package.parent)
        if applied.changed == (own,):
            changed = changed_statements(file.read_text(encoding="utf-8"), own.read_text(encoding="utf-8"))
            return Prepared(place, (), changed, left_out=applied.left_out)
        note = f"Run it on the patched release: PYTHONPATH={private.name} python repro-1.py"
        return Prepared(place, (), "", note, applied.left_out)

    def _try(self, one: JudgedCandidate, folder: Path, prepared: Prepared, name: str) -> None:
        process = CandidateProcess(
            self.subject, prepared.place, prepared.pieces, self.budget.limits, self.budget.loading
        )
        process.journal = self.folder.journal("candidate")
        try:
            self._say("loading", 0.0)
            try:
                process.start()
            except SubjectError as error:
                raise NotLoadedError.of(error) from error
            replaced = process.cloning_now.replaced if process.cloning_now else ()
            one.judged = replace(one.judged, loads=True, replaced=replaced, left_out=prepared.left_out)
            tests = self._tests(prepared.place, prepared.pieces)
            if tests is not None:
                one.tests_folder, one.tests = tests
            candidate = one.candidate = Candidate(process, self._reference, self._bugs)
            stages = try_all(candidate, self._graphs, self.budget, self._say)
            shown = in_order(candidate)
            scripts = with_scripts(shown)
            raised = {_mark(each): candidate.raised_at(each) for each in scripts}
        finally:
            process.close()
        written = self._write_scripts(one, folder, scripts, prepared, name)
        causes = (judged_cause(each, raised.get(_mark(each)), written.get(_mark(each))) for each in shown)
        judged = replace(with_stages(one.judged, candidate, stages), breaks=tuple(causes))
        one.judged = with_counts(judged, candidate)

    def _write_scripts(
        self, one: JudgedCandidate, folder: Path, shown: Sequence[CauseOnGraphs], prepared: Prepared, name: str
    ) -> dict[tuple[FixEffect, str], str]:
        """Write the scripts and have them run; their names."""
        where = prepared.place if not prepared.proposed else self.place
        written = {}
        for number, each in enumerate(shown, 1):
            script = script_for(
                each.smallest.case.source,
                self.subject.dialect,
                each.cause.root,
                self.cloning.module,
                prepared.proposed,
                Path(name).name,
                self.place,
                prepared.note,
            )
            written[_mark(each)] = f"repro-{number}.py"
            write_bytes(folder / written[_mark(each)], script.text.encode())
            one.scripts[_mark(each)] = self._runs.ask(script, self.subject, where)
        return written

    # -- what is common to all

    def _tests(self, place: ReleasePlace, pieces: Sequence[dict[str, Any]]) -> tuple[Path, Future[RunEnded]] | None:
        if not self._suite.files:
            return None
        folder = Path(tempfile.mkdtemp(dir=self._scratch))
        command, surroundings = work(self._suite, self.subject, place, pieces, folder)
        return folder, self._runs.run(command, folder, surroundings, self._tests_limit)

    def _blank(self, name: str, form: str) -> Judged:
        gpus = [device for device in self._process.ready.devices if device.startswith("gpu")]
        about = str(self.subject), self.versions
        return Judged(Path(name).name, name, form, *about, "", loads=False, simulated=len(gpus) < 2)

    def _label(self, name: str) -> str:
        """A folder's name for a candidate, which no other has."""
        label = re.sub(r"[^\w.=-]+", "-", Path(name).name).strip(".-") or "candidate"
        count, wanted = 1, label
        while (self.folder.path / "candidates" / wanted).exists():
            count += 1
            wanted = f"{label}-{count}"
        return wanted

    def _add(self, one: JudgedCandidate, began: float) -> None:
        one.judged = replace(one.judged, seconds=round(time.monotonic() - began, 2))
        one.judged = replace(one.judged, sentence=sentence(one.judged))
        self.candidates.append(one)
        self._write(one)
        self.folder.event("judged", candidate=one.judged.candidate, verdict=one.judged.word)

    def _write(self, one: JudgedCandidate) -> None:
        folder = one.folder or self.folder.path / "candidates" / one.judged.candidate
        write(folder / "verdict.json", one.judged)


def _mark(shown: CauseOnGraphs) -> tuple[FixEffect, str]:
    return shown.effect, shown.cause.fingerprint
