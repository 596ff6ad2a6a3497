"""A cause that showed, as every answer tells it: what it does and costs, whose fault it is, and what is known of it.

Owns what is said to whoever uses the clone: the concrete thing that happens, never what only follows from it.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from clonediff.harness.subjects.outcomes import OUT_OF_MEMORY, TIMED_OUT
from clonediff.harness.trials.triage import title
from clonediff.harness.trials.trial import Trial
from clonediff.reports.known import KnownIssue
from clonediff.reports.records import DOES, SEVERITIES, Cause, Difference, Severity
from clonediff.strategies.layers import CATALOGUE

_REFUSED = re.compile(r"(?P<kind>\w+)\.__init__\(\) got an unexpected keyword argument '(?P<name>\w+)'")
_LOST = {TIMED_OUT: "cloning it does not end in time", OUT_OF_MEMORY: "takes too much memory"}
_DOES = {**DOES, Severity.NAME: "has another name"}


class CauseShown(msgspec.Struct, frozen=True):
    """A cause on one model. `known` is the issue that explains it, `because` and `link` what that says.

    `happens` is what it does to the clone, `headline` that and the cause of it; `advice` says how to mend a class of
    the user's.
    """

    id: str
    title: str
    severity: str
    blame: str
    root: Difference
    happens: str = ""
    headline: str = ""
    followers: tuple[Difference, ...] = ()
    known: str | None = None
    because: str = ""
    link: str | None = None
    documented: bool = False
    advice: str = ""
    script: str = ""

    @property
    def line(self) -> str:
        """In a line: its title, its id, and whether it is known."""
        return f"{self.title} [{self.id}]" + (f" (known: {self.known})" if self.known else "")

    @property
    def crashes(self) -> bool:
        """Whether there is no clone, or it raises."""
        return self.severity == SEVERITIES[Severity.CRASHES]

    @property
    def name_only(self) -> bool:
        """Whether all that it costs is a name."""
        return self.severity == SEVERITIES[Severity.NAME]


def cause_shown(cause: Cause, issue: KnownIssue | None, *, words: str = "", script: str = "") -> CauseShown:
    """A cause and the issue that explains it. `words` are its title, where it has another than by itself."""
    known: dict[str, Any] = {}
    if issue is not None:
        known = {"known": issue.id, "because": issue.because, "link": issue.link, "documented": issue.documented}
    return CauseShown(
        cause.fingerprint,
        words or title(cause),
        severity=SEVERITIES[cause.severity],
        blame=cause.blame or "",
        root=cause.root,
        happens=happens(cause),
        headline=headline(cause),
        followers=cause.followers,
        advice=_advice(cause),
        script=script,
        **known,
    )


def _advice(cause: Cause) -> str:
    """What to write in a class of the user's whose constructor does not take what its config has."""
    raised = cause.root.raised
    refused = _REFUSED.search(raised.message) if raised is not None and raised.type == "TypeError" else None
    if refused is None or refused["kind"] in CATALOGUE:
        return ""
    takes = f"let `{refused['kind']}.__init__` take `**kwargs`, and pass them on: `super().__init__(**kwargs)`"
    return f"{takes}; the config of a layer has `{refused['name']}`, and `from_config` gives it to the constructor"


def causes_shown(trial: Trial) -> tuple[CauseShown, ...]:
    """The causes of a trial."""
    return tuple(cause_shown(hit.cause, hit.known, words=hit.title) for hit in trial.hits if hit.cause is not None)


def worst(cause: Cause) -> Difference:
    """The difference of a cause that costs a user most: of several, one that was seen in a run."""
    differences = [difference for difference in cause.differences if difference.severity == cause.severity]
    return next((difference for difference in differences if difference.run), differences[0])


def happens(cause: Cause) -> str:
    """What a cause does to whoever uses the clone, as concretely as a run shows it."""
    difference = worst(cause)
    if difference.check == "made":
        lost = "cloning it ends its process" if difference.part == "process" else "cannot be cloned"
        return _LOST.get(difference.name, lost)
    if difference.check == "untouched":
        return "cloning changes the original"
    whose = "a second clone" if difference.check == "again" else "the clone"
    return f"{whose} {_does(difference, cause.severity)}"


def _does(difference: Difference, severity: Severity) -> str:
    if severity is Severity.CRASHES:
        if difference.change == "no clone":
            return "cannot be made"
        if not difference.run:
            return "does not take the original's weights"
        if difference.run == "trained":
            return "crashes when trained"
        return "crashes when called" + (" in training mode" if difference.run == "training" else "")
    if severity is Severity.COMPUTES and not difference.run:
        # It was not seen to compute anything else: whoever sets its weights, or calls it, meets it there.
        if difference.change in ("clone dependent", "original dependent"):
            return "computes with variables of the original"
        if difference.part == "state":
            return "begins with another state"
        of_weights = difference.part in ("weight", "copied")
        return "has other weights" if of_weights else "has other inputs or outputs"
    if difference.aspect == "compiled":
        return "is not compiled"
    return _DOES[severity]


def headline(cause: Cause) -> str:
    """What happens, and the cause of it: the thing itself, never what follows from it."""
    root, reason = cause.root, title(cause)
    if root.check in ("made", "untouched") or cause.severity is Severity.NAME:
        return reason
    effect = happens(cause).removeprefix("the clone ")
    if root.raised is None or root is not worst(cause):
        return f"{effect}: {reason}"
    at = f" in {root.raised.frame.rpartition('/')[2]}" if root.raised.frame else ""
    return f"{effect}: {root.raised.type}{at}"
