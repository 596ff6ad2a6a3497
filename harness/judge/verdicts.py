"""What judging says of a candidate: plain records, as they are written to its `verdict.json`.

Owns their shape, and which causes are held against a candidate. Must not import Keras.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence

import msgspec

from harness.trials.triage import alike
from reports.records import FORMAT, Cause, Difference


class Charge(enum.StrEnum):
    """What a cause is, against what the release's own cloner does with the same graph."""

    BREAKS = "breaks what worked"
    LEAVES = "leaves broken"
    LIMIT = "a limit that fixed shares"


class Place(msgspec.Struct, frozen=True):
    """Where in the candidate's own file something was raised."""

    line: int
    function: str


class Break(msgspec.Struct, frozen=True):
    """One way in which a candidate breaks: on how many graphs, and the smallest of them.

    `said` is the exception, or the first difference; `reproduced` whether its script fails on its own.
    """

    id: str
    charge: Charge
    title: str
    said: str
    graphs: int
    first_on: str
    smallest: str
    graph: msgspec.Raw
    source: str
    differences: tuple[Difference, ...]
    place: Place | None = None
    script: str | None = None
    reproduced: bool | None = None


class OwnTests(msgspec.Struct, frozen=True):
    """The release's own tests for cloning. `note` says what was run, or why nothing was."""

    note: str
    passed: int = 0
    failed: tuple[str, ...] = ()
    said: str = ""
    seconds: float = 0.0


class Tried(msgspec.Struct, frozen=True):
    """One graph that the users meet as such: what came of it, in a word and in full."""

    holds: bool
    said: str


class Judged(msgspec.Struct, frozen=True):
    """The verdict on a candidate.

    `simulated` says that the two GPUs of `multi_gpu` were the CPU. `tried` counts graphs, `worked` those of them that
    the release's own cloner gets through; `broken` and `left` those on which the candidate breaks what worked and
    leaves broken what did not. `stopped` says why not all were tried.
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
    reported: Tried | None = None
    multi_gpu: Tried | None = None
    simulated: bool = True
    own_tests: OwnTests | None = None
    tried: int = 0
    worked: int = 0
    broken: int = 0
    left: int = 0
    mended: int = 0
    limits: int = 0
    breaks: tuple[Break, ...] = ()
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
        """Whether nothing at all is held against it."""
        tests = not (self.own_tests and self.own_tests.failed)
        return self.fixes and tests and not self.stopped and not self.broken and not self.left

    @property
    def word(self) -> str:
        """The verdict in a word or two."""
        if not self.loads:
            return "does not load"
        if self.holds:
            return "holds"
        tests = not (self.own_tests and self.own_tests.failed)
        if self.form == "reference" and not self.broken:
            return "breaks elsewhere" if self.fixes else "shows the reported bug"
        if self.fixes and tests and not self.broken and not self.stopped:
            return "fixes it, leaves others broken"
        return "fails"


def charged(
    causes: Sequence[Cause],
    upstream: Sequence[Cause],
    fixed: Sequence[Cause],
    documented: Callable[[Cause], bool],
) -> list[tuple[Cause, Charge]]:
    """Each cause with what it is. Where upstream makes no clone at all, nothing worked that could be broken."""
    no_clone = any(cause.root.check == "made" for cause in upstream)
    found = []
    for cause in causes:
        if documented(cause) or any(alike(cause, other) for other in fixed):
            charge = Charge.LIMIT
        elif no_clone or any(alike(cause, other) for other in upstream):
            charge = Charge.LEAVES
        else:
            charge = Charge.BREAKS
        found.append((cause, charge))
    return found
