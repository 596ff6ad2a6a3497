"""Judging from one end to the other: the reference, then each candidate, into a run's folder.

A candidate goes one way: it is read, made ready, loaded, tried, becomes a verdict, and the verdict a text.
Owns what is started and ended, and what is written when: a verdict stands in its file as soon as there is one, so that
whoever interrupts has all that was known by then.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from clonediff.harness.judge.effects import KnownBugs
from clonediff.harness.judge.graphs import known_models
from clonediff.harness.judge.patching import PatchError
from clonediff.harness.judge.processes import CandidateProcess, NotLoadedError, Prepared, prepare
from clonediff.harness.judge.reading import Proposal
from clonediff.harness.judge.record import Judged
from clonediff.harness.judge.scripts import ScriptRuns, script_for
from clonediff.harness.judge.text import everything, sentence
from clonediff.harness.judge.trying import DRAWN, Candidate, CauseOnGraphs, JudgeBudget, Reference, Say
from clonediff.harness.judge.verdicts import in_order, verdict, with_scripts
from clonediff.harness.subjects.outcomes import CloningFunctions, SubjectError
from clonediff.harness.subjects.place import ReleasePlace
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.subjects.subject import Subject
from clonediff.reports.known import KnownIssues
from clonediff.reports.records import write, write_bytes
from clonediff.reports.run_folder import RunFolder

_SUFFIXES = {"diff": ".diff", "python": ".py", "release": ".py", "text": ".txt"}


@dataclass(slots=True)
class JudgedCandidate:
    """A verdict, what it is made of, and what of it still runs. A reference has no folder of its own."""

    judged: Judged
    folder: Path | None = None
    candidate: Candidate | None = None
    scripts: list[tuple[CauseOnGraphs, Future[bool | None]]] = field(default_factory=list)


class JudgeSession:
    """Judges candidates, one after the other, against one release."""

    def __init__(
        self,
        subject: Subject,
        place: ReleasePlace,
        folder: RunFolder,
        budget: JudgeBudget,
        known: KnownIssues,
        say: Say,
        at_least: str = "trains",
    ) -> None:
        """`say` hears what is being done, and which part of the candidate at hand that is.

        What is less severe than `at_least` does not speak against a candidate.
        """
        self.subject, self.place, self.folder, self.budget = subject, place, folder, budget
        self.candidates: list[JudgedCandidate] = []
        self.versions: dict[str, str] = {}
        self._say = say
        self._at_least = at_least
        self._known = known
        self._process = SubjectProcess(subject, place=place, limits=budget.limits)
        self._reference = Reference(self._process)
        self._runs = ScriptRuns()

    def open(self) -> None:
        """Start the untouched release, and ask it what it clones with."""
        self._say("starting the release", 0.0)
        ready = self._process.start()
        cloning = self._process.cloning()
        if not isinstance(cloning, CloningFunctions):
            raise SubjectError(f"{self.subject}: lost while it was asked what it clones with")
        self.cloning = cloning
        self.versions = self._process.versions
        self._bugs = KnownBugs.of(self._known, self.subject.generation, ready.keras)
        self._graphs = known_models(self._known, self.subject.generation, ready.keras)

    def references(self) -> None:
        """Try the release's own code and the fixed cloner as a candidate is tried.

        They come first, so that each candidate is held against what is known of them.
        """
        for cloner in self._reference.cloners:
            began = time.monotonic()
            candidate = Candidate(self._process, self._reference, self._bugs, cloner=cloner, shared=False)
            one = JudgedCandidate(replace(self._blank(cloner, "reference"), loads=True), candidate=candidate)
            candidate.try_all(self._graphs, self.budget, self._say, fresh=False)
            self._add(one, began)

    def judge(self, name: str, text: str, proposal: Proposal) -> Judged:
        """Judge one candidate. Its scripts may still run when this returns: see `settle`."""
        began = time.monotonic()
        folder = self.folder.path / "candidates" / self._label(name)
        write_bytes(folder / f"candidate{_SUFFIXES[proposal.form]}", text.encode())
        blank = replace(self._blank(name, proposal.form), candidate=folder.name, taken=proposal.taken)
        one = JudgedCandidate(replace(blank, refused=proposal.problem), folder)
        if not proposal.problem:
            try:
                self._try(one, folder, prepare(proposal, self.place, self.cloning, folder))
            except PatchError as error:
                one.judged = replace(one.judged, refused=f"the diff does not apply: {error}")
            except NotLoadedError as error:
                one.judged = replace(one.judged, loads=False, refused=str(error))
        self._add(one, began)
        return one.judged

    def settle(self) -> None:
        """Wait for scripts, and write what came of them.

        The release and the fixed cloner are by then tried on what was drawn for the candidates as well.
        """
        for number, one in enumerate(self.candidates):
            self._say("running the scripts on their own", number / len(self.candidates))
            if one.candidate is not None and one.folder is None:
                for model in self._reference.models():
                    one.candidate.try_from(model, DRAWN)
            for shown, run in one.scripts:
                shown.reproduced = run.result()
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

    def _try(self, one: JudgedCandidate, folder: Path, prepared: Prepared) -> None:
        process = CandidateProcess(self.subject, prepared, self.budget.limits, self.budget.loading)
        try:
            self._say("loading", 0.0)
            process.start()
            replaced = process.cloning_now.replaced
            one.judged = replace(one.judged, loads=True, replaced=replaced, left_out=prepared.left_out)
            one.candidate = candidate = Candidate(process, self._reference, self._bugs)
            candidate.try_all(self._graphs, self.budget, self._say)
            scripts = with_scripts(in_order(candidate))
            for each in scripts:
                each.place = candidate.raised_at(each)
        finally:
            process.close()
        self._run_scripts(one, folder, scripts, prepared)

    def _run_scripts(
        self, one: JudgedCandidate, folder: Path, shown: Sequence[CauseOnGraphs], prepared: Prepared
    ) -> None:
        """Write the scripts and have them run."""
        place = self.place if prepared.in_script else prepared.place
        for number, each in enumerate(shown, 1):
            source, root = each.smallest.case.source, each.cause.root
            name = Path(one.judged.file).name
            script = script_for(source, self.subject.generation, root, self.cloning.module, prepared, name)
            each.script = f"repro-{number}.py"
            write_bytes(folder / each.script, script.text.encode())
            one.scripts.append((each, self._runs.ask(script, self.subject, place)))

    def _blank(self, name: str, form: str) -> Judged:
        about = str(self.subject), self.versions
        blank = Judged(Path(name).name, name, form, *about, "", loads=False)
        return replace(blank, at_least=self._at_least)

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
        self.candidates.append(one)
        self._write(one)
        self.folder.event("judged", candidate=one.judged.candidate, verdict=one.judged.word)

    def _write(self, one: JudgedCandidate) -> None:
        """Write the verdict on what is known by now."""
        if one.candidate is not None:
            one.judged = verdict(one.judged, one.candidate)
        else:
            one.judged = replace(one.judged, sentence=sentence(one.judged))
        folder = one.folder or self.folder.path / "candidates" / one.judged.candidate
        write(folder / "verdict.json", one.judged)
