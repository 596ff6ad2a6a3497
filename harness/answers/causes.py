"""A cause that showed, as every answer has it: what it does and costs, whose fault it is, and what is known of it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import msgspec

from clonediff.harness.answers.sentences import happens, sentence
from clonediff.harness.trials.triage import title
from clonediff.harness.trials.trial import Trial
from clonediff.reports.known import KnownIssue
from clonediff.reports.records import SEVERITIES, Cause, Difference, Severity


class CauseShown(msgspec.Struct, frozen=True):
    """A cause on one model. `known` is the issue that explains it, `because` its title and reason.

    `link` is where that is reported.
    `happens` is what it does to the clone, `sentence` the cause in words of the model, `effects` what follows from it.
    `advice` says how to mend the model; `own` that the fault is that of a class or function of the user's.
    """

    id: str
    title: str
    severity: str
    blame: str
    root: Difference
    happens: str = ""
    sentence: str = ""
    effects: tuple[str, ...] = ()
    followers: tuple[Difference, ...] = ()
    known: str | None = None
    because: str = ""
    link: str | None = None
    documented: bool = False
    advice: str = ""
    own: bool = False
    script: str = ""

    @property
    def line(self) -> str:
        """In a line: its title, its id, and whether it is known."""
        return f"{self.title} [{self.id}]" + (f" (known: {self.known})" if self.known else "")

    @property
    def name_only(self) -> bool:
        """Whether all that it costs is a name."""
        return self.severity == SEVERITIES[Severity.NAME]

    def ignored_by(self, ignored: Collection[str]) -> bool:
        """Whether it is ignored: by its fingerprint, by the known issue that explains it, or as what is documented."""
        return self.id in ignored or self.known in ignored or (self.documented and "documented" in ignored)


def cause_shown(cause: Cause, issue: KnownIssue | None, *, words: str = "", **more: Any) -> CauseShown:
    """A cause and the issue that explains it. `words` are its title, where it has another than by itself."""
    known: dict[str, Any] = {}
    if issue is not None:
        known = {
            "known": issue.id,
            "because": ". ".join(filter(None, (issue.title, issue.because))),
            "link": issue.link,
            "documented": issue.documented,
        }
    # What is known to be a bug of Keras is none of the user's, though they can help themselves.
    is_own = bool(more.get("own")) and (issue is None or issue.documented)
    return CauseShown(
        cause.fingerprint,
        words or title(cause),
        severity=SEVERITIES[cause.severity],
        blame=cause.blame or "",
        root=cause.root,
        happens=happens(cause),
        followers=cause.followers,
        **{"sentence": sentence(cause), **known, **more, "own": is_own},
    )


def causes_shown(trial: Trial) -> tuple[CauseShown, ...]:
    """The causes of a trial."""
    return tuple(cause_shown(hit.cause, hit.known, words=hit.title) for hit in trial.hits if hit.cause is not None)
