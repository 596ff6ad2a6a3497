"""Causes as a user would count them: what the model is compiled with one by one, and no row for what costs nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from clonediff.harness.trials.checks import aspect_of
from clonediff.harness.trials.triage import fingerprint
from clonediff.reports.records import Cause, Difference, Severity

_COMPILED = re.compile(r"(?:.*\.)?(?:attribute|compiled)\.(?:_compile_config\.config\['(\w+)'\])?(.*)")
_MADE_ANEW = re.compile(r"optimizer\.(?:built|variables|iterations|\w*(?:momentums|velocities|averages?|accumulators))")
"""What an optimizer has once it is built."""


def counted(causes: Iterable[Cause]) -> list[Cause]:
    """The causes that a user would count, the worst first."""
    parts = [part for cause in causes for part in _parts(cause) if not _is_private(part)]
    if any(_is_own_input(part) for part in parts):
        parts = [part for part in parts if part.severity < Severity.TRAINS or not _is_of_inputs(part)]
    unsaved = (replace(part, severity=Severity.PROPERTY) if colliding(part) else part for part in _folded(parts))
    return sorted(unsaved, key=lambda cause: cause.severity)


def fact_name(difference: Difference) -> str:
    """A setting, an attribute, or what the model is compiled with, as a user has it: "metrics[0].tolerance"."""
    match = _COMPILED.fullmatch(difference.within)
    name = "".join(filter(None, match.groups())) if match else difference.name
    return name.removeprefix(".").replace("._", ".")


def _parts(cause: Cause) -> list[Cause]:
    """The cause, one of what a model is compiled with for each loss, metric and optimizer by itself."""
    if aspect_of(cause.root).role != "compiled" or cause.root.aspect == "compiled":
        return [cause]
    things: dict[tuple[bool, str], list[Difference]] = {}
    for difference in cause.differences:
        name = fact_name(difference)
        things.setdefault((bool(_MADE_ANEW.match(name)), name.partition(".")[0]), []).append(difference)
    parts = []
    for (is_made_anew, thing), (root, *followers) in sorted(things.items(), key=lambda item: item[0][0]):
        trains = thing.startswith(("loss", "optimizer")) and not is_made_anew
        severity = Severity.TRAINS if trains else Severity.PROPERTY
        parts.append(Cause(fingerprint(root), root, tuple(followers), severity, cause.given, cause.blame))
    return parts


def _is_private(cause: Cause) -> bool:
    """Whether it is of a private attribute of a class of Keras, and no number comes of it."""
    root = cause.root
    names = re.findall(r"\.(\w+)", root.within.rpartition("attribute")[2])
    private = "_auto_config" in names or bool(names and names[-1].startswith("_"))
    return (
        cause.severity is Severity.PROPERTY and private and not {"a custom layer", "a custom model"} & set(cause.given)
    )


def _is_own_input(cause: Cause) -> bool:
    """Whether it is that two models have an input layer each, and not the same one, which costs nothing."""
    first = cause.root.first
    return first is not None and first.kind == "InputLayer" and cause.root.aspect in ("layer unshared", "layer merged")


def _is_of_inputs(cause: Cause) -> bool:
    """Whether it is that, or of the tensors of layers."""
    first = cause.root.first
    return _is_own_input(cause) or bool(aspect_of(cause.root).topic == "ends" and first and first.layer >= 0)


def _folded(causes: Sequence[Cause]) -> list[Cause]:
    """The causes without those that follow from another one for a user, which has them."""
    kept: list[Cause] = []
    for cause in sorted(causes, key=lambda cause: (cause.root.part == "weight", cause.root.part != "trainable")):
        number = next((number for number, earlier in enumerate(kept) if _explains(earlier, cause)), None)
        if number is None:
            kept.append(cause)
        else:
            earlier = kept[number]
            severity = min(earlier.severity, cause.severity)
            kept[number] = replace(earlier, followers=earlier.followers + cause.differences, severity=severity)
    return kept


def _explains(earlier: Cause, cause: Cause) -> bool:
    """Whether a cause follows: the order of weights from what is frozen, what a layer held from that it is missing."""
    if (cause.root.part, cause.root.change) == ("weight", "order"):
        return earlier.root.part == "trainable"
    holder, first = earlier.root.first, cause.root.first
    is_gone = earlier.root.aspect in ("layer missing", "layer unshared") and holder is not None and first is not None
    return is_gone and holder is not first and f"{first.name}/".startswith(f"{holder.name}/")  # type: ignore[union-attr]


def colliding(cause: Cause) -> tuple[str, ...]:
    """The names of weights in one layer of the model that have one name in the clone, which HDF5 cannot save."""
    if any(one.severity is not Severity.NAME for one in cause.differences):
        return ()
    names: dict[tuple[str, str], list[str]] = {}
    for one in cause.differences:
        if (one.check, one.part) == ("weights", "weight") and one.first is not None:
            names.setdefault((one.first.name.partition("/")[0], one.found), []).append(one.expected)
    return next((tuple(dict.fromkeys(each)) for each in names.values() if len(set(each)) > 1), ())
