"""Regroup causes for users: one for each loss, metric and optimizer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from clonediff.harness.trials.checks import aspect_of
from clonediff.harness.trials.triage import fingerprint
from clonediff.reports.records import Cause, Difference, Severity

_COMPILE_PATH = re.compile(r"(?:.*\.)?(?:attribute|compiled)\.(?:_compile_config\.config\['(\w+)'\])?(.*)")
_BUILT_OPTIMIZER = re.compile(
    r"optimizer\.(?:built|variables|iterations|\w*(?:momentums|velocities|averages?|accumulators))"
)
"""Attributes that an optimizer has only after it is built."""


def user_causes(causes: Iterable[Cause]) -> list[Cause]:
    """Regroup causes, the worst first."""
    parts = [part for cause in causes for part in _split_cause(cause) if not _is_private(part)]
    if any(map(_is_separate_input, parts)):
        parts = [cause for cause in parts if cause.severity < Severity.TRAINING or not _is_about_inputs(cause)]
    merged = _merge(parts)
    merged = [replace(cause, severity=Severity.PROPERTY) if colliding_names(cause) else cause for cause in merged]
    return sorted(merged, key=lambda cause: cause.severity)


def fact_name(difference: Difference) -> str:
    """The name of a fact, as a user writes it: "metrics[0].tolerance"."""
    match = _COMPILE_PATH.fullmatch(difference.location)
    name = "".join(filter(None, match.groups())) if match else difference.name
    return name.removeprefix(".").replace("._", ".")


def _split_cause(cause: Cause) -> list[Cause]:
    """Split a cause in `compile` arguments by loss, metric and optimizer."""
    if aspect_of(cause.root).role != "compiled" or cause.root.aspect == "compiled":
        return [cause]
    groups: dict[tuple[bool, str], list[Difference]] = {}
    for difference in cause.differences:
        name = fact_name(difference)
        groups.setdefault((bool(_BUILT_OPTIMIZER.match(name)), name.partition(".")[0]), []).append(difference)
    parts = []
    for (is_built, argument), (root, *followers) in sorted(groups.items(), key=lambda item: item[0][0]):
        is_trained = argument.startswith(("loss", "optimizer")) and not is_built
        severity = Severity.TRAINING if is_trained else Severity.PROPERTY
        parts.append(Cause(fingerprint(root), root, tuple(followers), severity, cause.given, cause.blame))
    return parts


def _is_private(cause: Cause) -> bool:
    """Whether only a Keras class's private attribute differs."""
    root = cause.root
    names = re.findall(r"\.(\w+)", root.location.rpartition("attribute")[2])
    is_private = "_auto_config" in names or bool(names and names[-1].startswith("_"))
    is_custom = bool({"a custom layer", "a custom model"} & set(cause.given))
    return cause.severity is Severity.PROPERTY and is_private and not is_custom


def _is_separate_input(cause: Cause) -> bool:
    """Whether an input layer is shared in only one of the models."""
    first = cause.root.first
    return first is not None and first.kind == "InputLayer" and cause.root.aspect in ("layer unshared", "layer merged")


def _is_about_inputs(cause: Cause) -> bool:
    """Whether a separate input layer explains the cause."""
    first = cause.root.first
    is_of_layer = first is not None and first.layer >= 0
    return _is_separate_input(cause) or (is_of_layer and aspect_of(cause.root).topic == "ends")


def _merge(causes: Sequence[Cause]) -> list[Cause]:
    """Merge each cause into an earlier one that explains it."""
    merged: list[Cause] = []
    for cause in sorted(causes, key=lambda cause: (cause.root.part == "weight", cause.root.part != "trainable")):
        index = next((index for index, earlier in enumerate(merged) if _explains(earlier, cause)), None)
        if index is None:
            merged.append(cause)
        else:
            earlier = merged[index]
            severity = min(earlier.severity, cause.severity)
            merged[index] = replace(earlier, followers=earlier.followers + cause.differences, severity=severity)
    return merged


def _explains(earlier: Cause, cause: Cause) -> bool:
    """Whether a frozen layer explains reordered weights, or a lost layer causes in its sublayers."""
    if (cause.root.part, cause.root.change) == ("weight", "order"):
        return earlier.root.part == "trainable"
    holder, first = earlier.root.first, cause.root.first
    is_gone = earlier.root.aspect in ("layer missing", "layer unshared") and holder is not None and first is not None
    return is_gone and holder is not first and f"{first.name}/".startswith(f"{holder.name}/")  # type: ignore[union-attr]


def colliding_names(cause: Cause) -> tuple[str, ...]:
    """The names of weights that get one name in the clone, which HDF5 rejects."""
    if any(item.severity is not Severity.NAME for item in cause.differences):
        return ()
    groups: dict[tuple[str, str], list[str]] = {}
    for difference in cause.differences:
        if (difference.check, difference.part) == ("weights", "weight") and difference.first is not None:
            layer = difference.first.name.partition("/")[0]
            groups.setdefault((layer, difference.found), []).append(difference.expected)
    return next((tuple(dict.fromkeys(names)) for names in groups.values() if len(set(names)) > 1), ())
