"""What is kept of a candidate: plain records, as they are written to its `verdict.json`."""

from __future__ import annotations

import msgspec

from clonediff.harness.judge.effects import WORSE, FixEffect
from clonediff.harness.subjects.observation import Frame
from clonediff.reports.records import AT_LEAST, FORMAT, Difference, Severity


class JudgedCause(msgspec.Struct, frozen=True):
    """One cause with what the candidate does there: on how many graphs, and the smallest of them.

    `said` is the exception, or the first difference; `before` the exception that the release raised, where it is silent
    now, and `does` what comes of that. `reproduced` says whether its script fails on its own.
    """

    id: str
    effect: FixEffect
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
    severity: Severity = Severity.CRASHES


class ReportedBug(msgspec.Struct, frozen=True):
    """The model of the bug report: what came of it, in a word and in full."""

    holds: bool
    said: str


class Judged(msgspec.Struct, frozen=True):
    """The verdict on a candidate.

    `tried` counts graphs, `worked` those of them that
    the release's own cloner gets through. Each graph counts once, for the worst that the candidate does there: in
    `worse` where an exception became silent, in `broken` where something worked, in `otherwise` where it breaks in
    another way than before, in `left` where in the same; in `lost_now` where it breaks no longer and only loses a
    property or a name, in `left_lost` where it does so as before; `mended` where nothing is wrong any more. `lost` are
    all graphs that lose a property or a name that was kept, whatever else they do, and `only_lost` those of them where
    that is the worst. `uncovered` are those of `left` where the release raised, and shows the same bug elsewhere.
    `silent` sums up the worse ones. `stopped` says why not all were tried. What is less severe than `at_least` is said,
    and does not speak against it.
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
    tried: int = 0
    worked: int = 0
    worse: int = 0
    broken: int = 0
    otherwise: int = 0
    left: int = 0
    lost: int = 0
    only_lost: int = 0
    lost_now: int = 0
    left_lost: int = 0
    uncovered: int = 0
    mended: int = 0
    shared: int = 0
    silent: str = ""
    breaks: tuple[JudgedCause, ...] = ()
    stopped: str = ""
    at_least: str = "trains"
    left_out: tuple[str, ...] = ()
    sentence: str = ""
    seconds: float = 0.0
    format: int = FORMAT

    @property
    def fixes(self) -> bool:
        """Whether the reported bug is gone."""
        return self.loads and self.reported is not None and self.reported.holds

    @property
    def holds(self) -> bool:
        """Whether nothing that is severe enough speaks against it."""
        return self._passes and not self._severe

    @property
    def word(self) -> str:
        """The verdict in a word or two."""
        if not self.loads:
            return "does not load"
        if self.holds:
            return "holds"
        effects = {each.effect for each in self._severe}
        if FixEffect.SILENCES in effects:
            return "worse"
        fails = any(effect in effects for effect in WORSE)
        if self.form == "reference" and not fails:
            return "breaks elsewhere" if self.fixes else "shows the reported bug"
        return "fixes it, leaves others broken" if self._passes and not fails else "fails"

    @property
    def _severe(self) -> list[JudgedCause]:
        """The causes that speak against it. What a script did not show on its own does not."""
        least = AT_LEAST[self.at_least]
        return [each for each in self.breaks if each.severity <= least and each.reproduced is not False]

    @property
    def _passes(self) -> bool:
        """Whether it fixes the bug, and was tried on everything."""
        return self.fixes and not self.stopped

    def counted(self, effect: FixEffect) -> tuple[int, int]:
        """On how many graphs it has this effect, and of how many that is."""
        count = {
            FixEffect.SILENCES: self.worse,
            FixEffect.BREAKS: self.broken,
            FixEffect.OTHERWISE: self.otherwise,
            FixEffect.LEAVES: self.left,
            FixEffect.LOSES: self.lost,
            FixEffect.LOSES_NOW: self.lost_now,
            FixEffect.LEAVES_LOST: self.left_lost,
            FixEffect.SHARED: self.shared,
        }
        of_what_worked = effect in (FixEffect.BREAKS, FixEffect.LOSES)
        return count[effect], self.worked if of_what_worked else self.tried

    def of(self, effect: FixEffect) -> list[JudgedCause]:
        """The causes with this effect."""
        return [each for each in self.breaks if each.effect is effect]
