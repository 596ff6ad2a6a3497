"""What a check comes to for whose model it is: how good each clone is, and what to do that works.

Nothing is recommended that was not tried on the model. That two cloners break alike is said only where it is one
cause; whether it is a bug of both or a limit, that does not tell.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from clonediff.harness.answers.causes import CauseShown
from clonediff.harness.answers.checked_model.record import CheckedModel, Cloned
from clonediff.harness.subjects.subject import Subject
from clonediff.harness.trials.triage import Verdict
from clonediff.reports.records import Blame, cloner_said

FAITHFUL = "cloned faithfully"
DOCUMENTED = "cloned faithfully but for what is documented to be left out"
IN_PART = "in what was compared"
"""What is added to these where something of the model could not be compared."""
NAME_ONLY = "only a name differs"
RAISED = "your function raises an exception, which arrives"
REMEDIES = ("fixed",)
"""Cloners that are tried, in this order, where Keras' own breaks something and nothing that was asked for holds."""

_DO = {
    "upstream": "`{package}.models.clone_model`",
    "fixed": "`from clonediff import clone_model`",
    "roundtrip": "`model.__class__.from_config(model.get_config())`",
    "deepcopy": "`copy.deepcopy(model)`",
}
_REFUSAL = re.compile(r" cannot be cloned( faithfully)?: | cannot be cloned from its config ")
"""How an error of ours begins that says why a model is not cloned, by its name and class."""


def minded(breaks: Iterable[CauseShown], *, strict: bool = False) -> list[CauseShown]:
    """What a user would mind: not what is documented to be left out, nor, unless `strict`, that a name is another."""
    return [each for each in breaks if not _left_out(each) and (strict or not each.name_only)]


def failing(checked: CheckedModel, *, strict: bool, allow_known: bool) -> Iterator[tuple[str, CauseShown]]:
    """What a check of a model fails for, each with who breaks it, where no baseline accepts it."""
    for cloned in checked.clones:
        for each in minded(cloned.breaks, strict=strict):
            if not (allow_known and each.known):
                yield cloned.cloner, each


def fails(checked: CheckedModel, *, strict: bool, allow_known: bool) -> bool:
    """Whether a check of a model fails: for what its baseline does not accept, where there is one."""
    if checked.baseline is not None:
        return bool(checked.baseline.new)
    return any(failing(checked, strict=strict, allow_known=allow_known))


def holds(cloned: Cloned, *, strict: bool = False) -> bool:
    """Whether a cloner gives a clone that is as good as the original, but, unless `strict`, for a name."""
    return not minded(cloned.breaks, strict=strict)


def refusal(cloned: Cloned) -> str:
    """Why a cloner refuses a model, in its own words, "" where it does not."""
    raised = next((each.root.raised for each in cloned.breaks if each.root.check == "made"), None)
    return raised.message if raised is not None and _REFUSAL.search(raised.message) else ""


def outcome(breaks: Sequence[CauseShown]) -> str:
    """What a cloner makes of the model, by the worst that it breaks."""
    counted = minded(breaks)
    if counted:
        return counted[0].happens
    if minded(breaks, strict=True):
        return NAME_ONLY
    return DOCUMENTED if breaks else FAITHFUL


def whose(cloner: str, subject: Subject) -> str:
    """A cloner as a user knows it."""
    package = subject.package
    upstream = f"{'Keras' if package == 'keras' else package}' clone_model"
    return {"upstream": upstream, "fixed": "clonediff's clone_model"}.get(cloner, f"the cloner {cloner_said(cloner)}")


def summary(
    clones: Sequence[Cloned],
    remedies: Sequence[Cloned],
    subject: Subject,
    *,
    strict: bool = False,
    in_part: bool = False,
) -> str:
    """The line that a report on a model begins with. With `strict`, a user would mind a changed name.

    Where the model was compared `in_part`, no clone is called faithful in more than that.
    """
    happened: dict[str, list[str]] = {}
    for each in clones:
        happened.setdefault(each.outcome, []).append(whose(each.cloner, subject))
    if len(happened) > 1:
        happened.pop(FAITHFUL, None)
    said = [
        qualified(what, in_part=in_part) + ("" if what == FAITHFUL else f" ({' and '.join(who)})")
        for what, who in happened.items()
    ]
    return "; ".join((*said, what_to_do(clones, remedies, subject, strict=strict)))


def qualified(what: str, *, in_part: bool) -> str:
    """What is said of a clone without a fault; of one that was compared in part, that it is."""
    faultless = what in (FAITHFUL, DOCUMENTED, Verdict.FAITHFUL)
    return f"{what} {IN_PART}" if in_part and faultless else what


def what_to_do(clones: Sequence[Cloned], remedies: Sequence[Cloned], subject: Subject, *, strict: bool = False) -> str:
    """What to do, and whether it works."""
    if all(holds(each, strict=strict) for each in clones):
        return "nothing to do"
    by_name = {each.cloner: each for each in (*clones, *remedies)}
    upstream, fixed = by_name.get("upstream"), by_name.get("fixed")
    ours = fixed is not None and any(each.blame == Blame.OURS for each in minded(fixed.breaks))
    report = "; what clonediff's breaks is its own fault: please report it, with this model if you can" if ours else ""
    holding = [name for name in _DO if name in by_name and holds(by_name[name], strict=strict)]
    if holding:
        return f"what works: {_DO[holding[0]].format(package=subject.package)}{report}"
    refused = refusal(fixed) if fixed is not None else ""
    if upstream is None:
        return refused or "add --cloner upstream to compare, and to have tried what may work"
    if refused:
        return f"nothing that was tried works; clonediff's clone_model says what to do: {refused}"
    if fixed is not None and _both_break_alike(upstream, fixed):
        return "both break alike, and nothing else that was tried works"
    return f"nothing that was tried works{report}"


def to_try(clones: Sequence[Cloned], *, strict: bool = False) -> str:
    """The cloner to try next for want of one that holds; "" where one does, and where Keras' own was not asked."""
    by_name = {each.cloner: each for each in clones}
    if "upstream" not in by_name or any(holds(each, strict=strict) for each in clones):
        return ""
    return next((name for name in REMEDIES if name not in by_name), "")


def _left_out(each: CauseShown) -> bool:
    """Whether Keras documents that a clone lacks this. An exception is minded, documented or not."""
    return each.documented and not each.crashes


def _both_break_alike(one: Cloned, other: Cloned) -> bool:
    """Whether two cloners break alike, cause by cause, and neither breaks anything more."""
    return all(each.blame == Blame.BOTH for cloned in (one, other) for each in minded(cloned.breaks))
