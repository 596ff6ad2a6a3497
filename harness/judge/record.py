"""What is kept of a candidate: plain records, as they are written to its `verdict.json`."""

from __future__ import annotations

import msgspec

from clonediff.harness.judge.effects import FixEffect
from clonediff.harness.subjects.observation import Frame
from clonediff.reports.records import FORMAT, Difference


class JudgedCause(msgspec.Struct, frozen=True):
    """One cause with what the candidate does there: on how many graphs, and the smallest of them.

    `said` is the exception, or the first difference; `before` the exception that the release raised, where it is silent
    now, and `does` what comes of that. `reproduced` says whether its script fails on its own.
    """

    id: str
    effect: FixEffect = msgspec.field(name="charge")
    title: str
    said: str
    graphs: int
    first_on: str
    smallest: str
    graph: msgspec.Raw
    source: str
    differences: tuple[Difference, ...]
    place: Frame | None = None
    script: str | None = None
    reproduced: bool | None = None
    before: str = ""
    does: str = ""


class ReleaseTests(msgspec.Struct, frozen=True):
    """The release's own tests for cloning. `note` says what was run, or why nothing was."""

    note: str
    passed: int = 0
    failed: tuple[str, ...] = ()
    said: str = ""
    seconds: float = 0.0


class ReportedBug(msgspec.Struct, frozen=True):
    """The model of the bug report: what came of it, in a word and in full."""

    holds: bool
    said: str


class Judged(msgspec.Struct, frozen=True):
    """The verdict on a candidate.

    `simulated` says that the two GPUs of `multi_gpu` were the CPU. `tried` counts graphs, `worked` those of them that
    the release's own cloner gets through. Each graph counts once, for the worst that the candidate does there: in
    `worse` where an exception became silent, in `broken` where something worked, in `otherwise` where it breaks in
    another way than before, in `left` where in the same; `mended` where nothing is wrong any more. `uncovered` are
    those of `left` where the release raised, and shows the same bug elsewhere. `silent` sums up the worse ones.
    `stopped` says why not all were tried.
    """

    candidate: str
    file: str
    form: str
    subject: str
    versions: dict[str, str]
    taken: str
    loads: bool
    refused: str = ""
    replaced: tuple[str, ...] = ()
    reported: ReportedBug | None = None
    multi_gpu: ReportedBug | None = None
    simulated: bool = True
    release_tests: ReleaseTests | None = msgspec.field(default=None, name="own_tests")
    tried: int = 0
    worked: int = 0
    worse: int = 0
    broken: int = 0
    otherwise: int = 0
    left: int = 0
    uncovered: int = 0
    mended: int = 0
    shared: int = msgspec.field(default=0, name="limits")
    silent: str = ""
    breaks: tuple[JudgedCause, ...] = ()
    stopped: str = ""
    left_out: tuple[str, ...] = ()
    sentence: str = ""
    seconds: float = 0.0
    format: int = FORMAT

    @property
    def fixes(self) -> bool:
        """Whether the reported bug is gone, in every way in which it was tried."""
        tried = [each for each in (self.reported, self.multi_gpu) if each is not None]
        return self.loads and bool(tried) and all(each.holds for each in tried)

    @property
    def holds(self) -> bool:
        """Whether nothing at all speaks against it."""
        return self._passes and not (self.worse or self.broken or self.otherwise or self.left)

    @property
    def word(self) -> str:
        """The verdict in a word or two."""
        if not self.loads:
            return "does not load"
        if self.holds:
            return "holds"
        if self.worse:
            return "worse"
        if self.form == "reference" and not self.broken:
            return "breaks elsewhere" if self.fixes else "shows the reported bug"
        return "fixes it, leaves others broken" if self._passes and not self.broken else "fails"

    @property
    def _passes(self) -> bool:
        """Whether it fixes the bug, passes the release's own tests, and was tried on everything."""
        return self.fixes and not (self.release_tests and self.release_tests.failed) and not self.stopped

    def counted(self, effect: FixEffect) -> tuple[int, int]:
        """On how many graphs it has this effect, and of how many that is."""
        count = {
            FixEffect.SILENCES: self.worse,
            FixEffect.BREAKS: self.broken,
            FixEffect.OTHERWISE: self.otherwise,
            FixEffect.LEAVES: self.left,
            FixEffect.SHARED: self.shared,
        }
        return count[effect], self.worked if effect is FixEffect.BREAKS else self.tried

    def of(self, effect: FixEffect) -> list[JudgedCause]:
        """The causes with this effect."""
        return [each for each in self.breaks if each.effect is effect]
