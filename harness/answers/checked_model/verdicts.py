"""What a check comes to for whose model it is: how good each clone is, and what to do that works.

Nothing is recommended that was not tried on the model. That two cloners break alike is said only where it is one
cause; whether it is a bug of both or a limit, that does not tell.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from clonediff.harness.answers.causes import CauseShown
from clonediff.harness.answers.checked_model.record import CheckedModel, Cloned
from clonediff.harness.subjects.subject import Subject
from clonediff.reports.records import Blame, cloner_said

FAITHFUL = "cloned faithfully"
DOCUMENTED = "cloned faithfully but for what is documented to be left out"
NAME_ONLY = "only a name differs"

_DO = {
    "upstream": "`{package}.models.clone_model`",
    "fixed": "`from clonediff import clone_model`",
    "roundtrip": "`model.__class__.from_config(model.get_config())`",
    "deepcopy": "`copy.deepcopy(model)`",
}
_REFUSAL = re.compile(r" cannot be cloned( faithfully)?: | cannot be cloned from its config ")
"""How an error of ours begins that says why a model is not cloned, by its name and class."""


def minded(breaks: Iterable[CauseShown]) -> list[CauseShown]:
    """What a user would mind: not what is documented to be left out, nor that a name is another."""
    return [each for each in breaks if not _left_out(each) and not each.name_only]


def is_ignored(shown: CauseShown, ignored: Collection[str]) -> bool:
    """Whether the user ignores a cause: by its fingerprint, or by the id of the known issue that explains it."""
    return shown.id in ignored or shown.known in ignored


def fails(checked: CheckedModel, ignored: Collection[str]) -> bool:
    """Whether a cloner breaks something that a user would mind, and that is not ignored."""
    return any(not is_ignored(each, ignored) for each in minded(checked.breaks))


def holds(cloned: Cloned) -> bool:
    """Whether a cloner gives a clone that is as good as the original, but for a name."""
    return not minded(cloned.breaks)


def refusal(cloned: Cloned) -> str:
    """Why a cloner refuses a model, in its own words, "" where it does not."""
    raised = next((each.root.raised for each in cloned.breaks if each.root.check == "made"), None)
    return raised.message if raised is not None and _REFUSAL.search(raised.message) else ""


def outcome(breaks: Sequence[CauseShown]) -> str:
    """What a cloner makes of the model, by the worst that it breaks."""
    counted = minded(breaks)
    if counted:
        return counted[0].happens
    if any(each.name_only and not _left_out(each) for each in breaks):
        return NAME_ONLY
    return DOCUMENTED if breaks else FAITHFUL


def whose(cloner: str, subject: Subject) -> str:
    """A cloner as a user knows it."""
    package = subject.package
    upstream = f"{'Keras' if package == 'keras' else package}' clone_model"
    return {"upstream": upstream, "fixed": "clonediff's clone_model"}.get(cloner, f"the cloner {cloner_said(cloner)}")


def summary(clones: Sequence[Cloned], subject: Subject) -> str:
    """The line that a report on a model begins with."""
    happened: dict[str, list[str]] = {}
    for each in clones:
        happened.setdefault(each.outcome, []).append(whose(each.cloner, subject))
    if len(happened) > 1:
        happened.pop(FAITHFUL, None)
    said = [what if what == FAITHFUL else f"{what} ({' and '.join(who)})" for what, who in happened.items()]
    return "; ".join((*said, what_to_do(clones, subject)))


def what_to_do(clones: Sequence[Cloned], subject: Subject) -> str:
    """What to do, and whether it works."""
    if all(map(holds, clones)):
        return "nothing to do"
    by_name = {each.cloner: each for each in clones}
    upstream, fixed = by_name.get("upstream"), by_name.get("fixed")
    ours = fixed is not None and any(each.blame == Blame.OURS for each in minded(fixed.breaks))
    report = "; what clonediff's breaks is its own fault: please report it, with this model if you can" if ours else ""
    holding = [name for name in _DO if name in by_name and holds(by_name[name])]
    if holding:
        return f"what works: {_DO[holding[0]].format(package=subject.package)}{report}"
    refused = refusal(fixed) if fixed is not None else ""
    if refused:
        return f"nothing that was tried works; clonediff's clone_model says what to do: {refused}"
    if upstream is not None and fixed is not None and _both_break_alike(upstream, fixed):
        return "both break alike"
    return f"nothing that was tried works{report}"


def _left_out(each: CauseShown) -> bool:
    """Whether Keras documents that a clone lacks this. An exception is minded, documented or not."""
    return each.documented and not each.crashes


def _both_break_alike(one: Cloned, other: Cloned) -> bool:
    """Whether two cloners break alike, cause by cause, and neither breaks anything more."""
    return all(each.blame == Blame.BOTH for cloned in (one, other) for each in minded(cloned.breaks))
