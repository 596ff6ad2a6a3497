"""What a check has compared, and what it has not, with the reason.

Owns the words for both. Nothing is called faithful that nobody looked at: where the model itself cannot be trained or
saved there is nothing to hold its clone against, and the answer says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clonediff.harness.answers.checked_model.record import Cloned, NotCompared
from clonediff.harness.answers.checked_model.verdicts import RAISED
from clonediff.harness.subjects.case import Case
from clonediff.harness.subjects.observation import Failure, Observation
from clonediff.harness.trials.checks import CHECKS, CHECKS_WITH_FUNCTIONS
from clonediff.reports.records import cloner_said

WORDS = {
    "made": "whether it can be cloned",
    "weights": "weights",
    "own": "whether they are its own",
    "sharing": "shared layers",
    "outputs": "outputs",
    "masks": "masks",
    "structure": "the graph",
    "untouched": "the model before and after",
    "again": "a second clone",
    "training": "a step of training",
    "functions": "what a clone_function is asked for",
    "warned": "warnings",
}
"""What each check compares, for whoever reads the answer."""

_NOT_ASKED = "not asked for (--no-costly)"
_UNKNOWN_MODEL = "nobody knows which model your arguments ask for"
_ONE_CLONE = "what clone_model is given is for one clone"
_LIKE_SETTINGS = 5


def compared(
    original: Observation | None, clones: Sequence[Cloned], case: Case, costly: bool
) -> tuple[tuple[str, ...], tuple[NotCompared, ...]]:
    """What was compared of the model, in the order of the promise, and what was not."""
    if original is None or all(map(_has_no_clone, clones)):
        return (WORDS["made"],), tuple(_no_clone(clones))
    left_out = {name: why for name in CHECKS if (why := _why_not(name, original, case, costly))}
    looked_at = [WORDS[name] for name in CHECKS if name not in left_out and _is_meant(name, case)]
    missing = [NotCompared(WORDS[name], why) for name, why in left_out.items() if _is_meant(name, case)]
    return tuple(looked_at), (*missing, *_in_part(original), *_no_clone(clones))


def _is_meant(check: str, case: Case) -> bool:
    """Whether there is anything for a check to see: nothing is asked of functions where none are given."""
    return check != "functions" or bool(case.arguments)


def _has_no_clone(cloned: Cloned) -> bool:
    return cloned.outcome == RAISED or any(broken.hides for broken in cloned.breaks)


def _no_clone(clones: Sequence[Cloned]) -> Iterator[NotCompared]:
    for each in clones:
        if _has_no_clone(each):
            yield NotCompared(f"anything else of {cloner_said(each.cloner)}", "there is no clone", each.cloner)


def _why_not(check: str, original: Observation, case: Case, costly: bool) -> str:
    """Why a check has seen nothing, "" where it has."""
    if case.user_arguments:
        return "" if check in CHECKS_WITH_FUNCTIONS else _UNKNOWN_MODEL
    if CHECKS[check].costly and not costly:
        return _NOT_ASKED
    if check == "again" and case.arguments and not case.repeats:
        return _ONE_CLONE
    if check == "training" and original.trained is not None and original.trained.failure is not None:
        return _the_model("cannot be trained", original.trained.failure)
    return ""


def _the_model(cannot: str, failure: Failure | None) -> str:
    return "" if failure is None else f"the model itself {cannot}: {failure.type}: {failure.message}"


def _in_part(original: Observation) -> Iterator[NotCompared]:
    """What was left out of something that was compared for the rest."""
    paths = list(dict.fromkeys(path for each in original.varying for path in each))
    if paths:
        more = f" and {len(paths) - _LIKE_SETTINGS} more" if len(paths) > _LIKE_SETTINGS else ""
        named = ", ".join(paths[:_LIKE_SETTINGS])
        yield NotCompared(
            f"what layers hold at {named}{more}", "another build of the model does not repeat it", chance=True
        )
