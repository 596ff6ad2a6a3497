"""Judging from one end to the other: the reference, then each candidate, into a run's folder.

Owns what is started and ended, and what is written when: a verdict stands in its file as soon as there is one, so that
whoever interrupts has all that was known by then. Must not import Keras.
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

from harness.judge.known import documented, known_graphs
from harness.judge.own_tests import find_suite, outcome, work
from harness.judge.patching import PatchError, apply, read_diff
from harness.judge.reading import Proposal, read_proposal
from harness.judge.scripts import Proofs, changed_statements, showing, text_of
from harness.judge.seats import NotLoadedError, Reference, Seated
from harness.judge.stages import Budget, counted, summed, tried
from harness.judge.telling import sentence
from harness.judge.trying import DRAWN, Candidate, Shown
from harness.judge.verdicts import Charge, Judged, OwnTests
from harness.subjects.outcomes import Cloning, SubjectError
from harness.subjects.place import ReleasePlace
from harness.subjects.process import SubjectProcess
from harness.subjects.subject import Subject
from reports.known import KnownIssues
from reports.records import write, write_bytes
from reports.run_folder import RunFolder

_SUFFIXES = {"diff": ".diff", "python": ".py", "release": ".py", "text": ".txt"}
_TESTS_LIMIT = 120.0
_TESTS_SLOWER = 4.0
"""How many times longer than without a candidate the release's own tests may take with one."""


@dataclass(frozen=True, slots=True)
class Laid:
    """A proposal ready to be tried: where it runs, what is put in place there, how it stands in a script."""

    place: ReleasePlace
    pieces: tuple[dict[str, Any], ...]
    proposed: str
    note: str = ""
    left_out: tuple[str, ...] = ()


@dataclass(slots=True)
class Row:
    """A verdict, and what of it still runs."""

    judged: Judged
    folder: Path | None = None
    shown: dict[tuple[Charge, str], Shown] = field(default_factory=dict)
    proofs: dict[int, Future[bool | None]] = field(default_factory=dict)
    tests: Future[str | None] | None = None
    tests_folder: Path | None = None


class Session:
    """Judges candidates, one after the other, against one release."""

    def __init__(
        self,
        subject: Subject,
        place: ReleasePlace,
        folder: RunFolder,
        budget: Budget,
        known: KnownIssues,
        say: Callable[[str, float], None],
    ) -> None:
        """`say` hears what is being done, and which part of the candidate at hand that is."""
        self.subject, self.place, self.folder, self.budget = subject, place, folder, budget
        self.rows: list[Row] = []
        self._say = say
        self._known = known
        self._process = SubjectProcess(subject, place=place, limits=budget.limits, journal=folder.journal("reference"))
        self._reference = Reference(self._process)
        self._proofs = Proofs()
        self._scratch = Path(tempfile.mkdtemp(prefix="clonediff-judge-"))
        self._baseline: OwnTests | None = None
        self._tests_limit = _TESTS_LIMIT
        self._beside: dict[str, Candidate] = {}

    def open(self) -> None:
        """Start the untouched release, ask it what it clones with, and run its own tests once."""
        self._say("starting the release", 0.0)
        ready = self._process.start()
        cloning = self._process.cloning()
        if not isinstance(cloning, Cloning):
            raise SubjectError(f"{self.subject}: lost while it was asked what it clones with")
        self.cloning = cloning
        self.versions = self._process.versions
        self._documented = documented(self._known, self.subject.generation, ready.keras)
        self._graphs = known_graphs(self._known, self.subject.generation)
        self._say("looking for the release's own tests", 0.0)
        self._suite = find_suite(self.subject, self.place, ready.keras, Path(cloning.file), ready.python)
        self._tests_alone = self._tests(self.place, ())

    def references(self) -> None:
        """Try the release's own code and the fixed cloner as a candidate is tried: the rows that come first."""
        for cloner in Reference.CLONERS:
            began = time.monotonic()
            candidate = Candidate(self._process, self._reference, self._documented, cloner=cloner, shared=False)
            self._beside[cloner] = candidate
            judged = replace(self._blank(cloner, "reference"), loads=True)
            judged, _ = tried(judged, candidate, self._graphs, self.budget, self._say, fresh=False)
            self._add(Row(self._finished(judged, began)))
        if self._tests_alone is not None:
            folder, tests = self._tests_alone
            self._say("the release's own tests, without a candidate", 0.9)
            self._baseline = outcome(self._suite, folder, tests.result(), None)
            self._tests_limit = max(20.0, _TESTS_SLOWER * self._baseline.seconds)
        own = self._baseline or OwnTests(self._suite.note)
        self.rows[0].judged = replace(self.rows[0].judged, own_tests=own)

    def judge(self, name: str, text: str, proposal: Proposal | None = None) -> Judged:
        """Judge one candidate. Its scripts and the release's tests may still run when this returns: see `settle`."""
        began = time.monotonic()
        proposal = proposal or read_proposal(name, text, self.cloning.functions)
        folder = self.folder.path / "candidates" / self._label(name)
        write_bytes(folder / f"candidate{_SUFFIXES[proposal.form]}", text.encode())
        row = Row(replace(self._blank(name, proposal.form), candidate=folder.name, taken=proposal.taken), folder)
        try:
            if proposal.problem:
                row.judged = replace(row.judged, refused=proposal.problem)
            else:
                self._try(row, self._laid(proposal, folder), proposal.name)
        except PatchError as error:
            row.judged = replace(row.judged, refused=f"the diff does not apply: {error}")
        except NotLoadedError as error:
            row.judged = replace(row.judged, loads=False, refused=error.refused.what)
        row.judged = self._finished(row.judged, began)
        self._add(row)
        return row.judged

    def settle(self) -> None:
        """Wait for scripts and tests, and write what came of them.

        The release and the fixed cloner have by then been tried on what was drawn for the candidates as well.
        """
        for row, candidate in zip(self.rows, self._beside.values(), strict=False):
            for graph in self._reference.graphs():
                candidate.see(graph, DRAWN)
            row.judged, _ = summed(row.judged, candidate)
        for number, row in enumerate(self.rows):
            self._say("running the scripts on their own", number / len(self.rows))
            breaks = tuple(
                replace(each, reproduced=row.proofs[at].result()) if at in row.proofs else each
                for at, each in enumerate(row.judged.breaks)
            )
            row.judged = counted(replace(row.judged, breaks=breaks), row.shown)
            if row.tests is not None and row.tests_folder is not None:
                own = outcome(self._suite, row.tests_folder, row.tests.result(), self._baseline)
                row.judged = replace(row.judged, own_tests=own)
            elif row.judged.loads and row.judged.own_tests is None:
                row.judged = replace(row.judged, own_tests=OwnTests(self._suite.note or "not run"))
            row.judged = replace(row.judged, sentence=sentence(row.judged))
            self._write(row)

    def close(self, *, interrupted: bool = False) -> None:
        """End every process."""
        self._proofs.close(at_once=interrupted)
        self._process.close()
        shutil.rmtree(self._scratch, ignore_errors=True)

    # -- one candidate

    def _laid(self, proposal: Proposal, folder: Path) -> Laid:
        pieces = tuple(piece.request() for piece in proposal.pieces)
        if not proposal.diff:
            return Laid(self.place, pieces, text_of(proposal.pieces))
        package, file = Path(self.cloning.package), Path(self.cloning.file)
        private = folder.resolve() / "patched"
        applied = apply(read_diff(proposal.diff), package, private)
        place = replace(self.place, path=(str(private), *self.place.path))
        own = private / file.relative_to(package.parent)
        if applied.changed == (own,):
            changed = changed_statements(file.read_text(encoding="utf-8"), own.read_text(encoding="utf-8"))
            return Laid(place, (), changed, left_out=applied.left_out)
        note = f"Run it on the patched release: PYTHONPATH={private.name} python repro-1.py"
        return Laid(place, (), "", note, applied.left_out)

    def _try(self, row: Row, laid: Laid, name: str) -> None:
        process = Seated(self.subject, laid.place, laid.pieces, self.budget.limits, self.budget.loading)
        process.journal = self.folder.journal("candidate")
        try:
            self._say("loading", 0.0)
            try:
                process.start()
            except SubjectError as error:
                raise NotLoadedError.of(error) from error
            replaced = process.cloning_now.replaced if process.cloning_now else ()
            row.judged = replace(row.judged, loads=True, replaced=replaced, left_out=laid.left_out)
            tests = self._tests(laid.place, laid.pieces)
            if tests is not None:
                row.tests_folder, row.tests = tests
            candidate = Candidate(process, self._reference, self._documented)
            row.shown = candidate.shown
            row.judged, shown = tried(row.judged, candidate, self._graphs, self.budget, self._say)
        finally:
            process.close()
        self._write_scripts(row, shown, laid, name)

    def _write_scripts(self, row: Row, shown: Sequence[Shown], laid: Laid, name: str) -> None:
        breaks = list(row.judged.breaks)
        where = laid.place if not laid.proposed else self.place
        for at, one in enumerate(shown):
            script = showing(
                one.case.source,
                self.subject.dialect,
                one.cause.root,
                self.cloning.module,
                laid.proposed,
                Path(name).name,
                self.place,
                laid.note,
            )
            file = f"repro-{at + 1}.py"
            assert row.folder is not None
            write_bytes(row.folder / file, script.text.encode())
            breaks[at] = replace(breaks[at], script=file)
            row.proofs[at] = self._proofs.ask(script, self.subject, where)
        row.judged = replace(row.judged, breaks=tuple(breaks))

    # -- what is common to all

    def _tests(self, place: ReleasePlace, pieces: Sequence[dict[str, Any]]) -> tuple[Path, Future[str | None]] | None:
        if not self._suite.files:
            return None
        folder = Path(tempfile.mkdtemp(dir=self._scratch))
        command, surroundings = work(self._suite, self.subject, place, pieces, folder)
        return folder, self._proofs.run(command, folder, surroundings, self._tests_limit)

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

    def _finished(self, judged: Judged, began: float) -> Judged:
        judged = replace(judged, seconds=round(time.monotonic() - began, 2))
        return replace(judged, sentence=sentence(judged))

    def _add(self, row: Row) -> None:
        self.rows.append(row)
        self._write(row)
        self.folder.event("judged", candidate=row.judged.candidate, verdict=row.judged.word)

    def _write(self, row: Row) -> None:
        folder = row.folder or self.folder.path / "candidates" / row.judged.candidate
        write(folder / "verdict.json", row.judged)
