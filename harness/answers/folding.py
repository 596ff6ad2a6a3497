"""Causes as a user would count them: what the model is compiled with one by one, and no row for what costs nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from clonediff.harness.observation import Shape
from clonediff.harness.trials.checks import aspect_of
from clonediff.harness.trials.triage import fingerprint
from clonediff.reports.records import Cause, Difference, Severity

_COMPILED = re.compile(r"(?:.*\.)?(?:attribute|compiled)\.(?:_compile_config\.config\['(\w+)'\])?(.*)")
_MADE_ANEW = re.compile(r"optimizer\.(?:built|variables|iterations|\w*(?:momentums|velocities|averages?|accumulators))")
"""What an optimizer has once it is built."""
_OWN_CLASS = ("a layer of one's own", "a model of one's own")


def counted(causes: Iterable[Cause], original: Shape, clone: Shape | None) -> list[Cause]:
    """The causes that a user would count, the worst first."""
    parts = [part for cause in causes for part in _parts(cause) if not _is_private(part)]
    if any(_is_own_input(part) for part in parts):
        parts = [part for part in parts if part.severity < Severity.TRAINS or not _is_of_inputs(part)]
    parts = _folded(parts)
    collisions = _collisions(clone) - _collisions(original) if clone else set()
    parts = [_unsaved(part, collisions) for part in parts]
    return sorted(parts, key=lambda cause: (cause.severity, is_made_anew(cause.root)))


def compiled_name(difference: Difference) -> str:
    """What the model is compiled with, as a user has it: "metrics[0].tolerance"."""
    match = _COMPILED.fullmatch(difference.within)
    return "".join(filter(None, match.groups())).replace("._", ".") if match else difference.name


def _parts(cause: Cause) -> list[Cause]:
    """The cause, one of what a model is compiled with for each loss, metric and optimizer by itself."""
    if aspect_of(cause.root).role != "compiled" or cause.root.aspect == "compiled":
        return [cause]
    things: dict[str, list[Difference]] = {}
    for difference in cause.differences:
        things.setdefault(compiled_name(difference).partition(".")[0], []).append(difference)
    parts = []
    for thing, differences in things.items():
        root, *followers = sorted(differences, key=is_made_anew)
        trains = thing.startswith(("loss", "optimizer")) and not is_made_anew(root)
        severity = Severity.TRAINS if trains else Severity.PROPERTY
        parts.append(Cause(fingerprint(root), root, tuple(followers), severity, cause.given, cause.blame))
    return parts


def is_made_anew(difference: Difference) -> bool:
    """Whether it is of what an optimizer has once it is built."""
    return bool(_MADE_ANEW.match(compiled_name(difference)))


def _is_private(cause: Cause) -> bool:
    """Whether it is of a private attribute of a class of Keras, and no number comes of it."""
    root = cause.root
    names = re.findall(r"\.(\w+)", root.within.rpartition("attribute")[2])
    private = "_auto_config" in names or bool(names and names[-1].startswith("_"))
    return cause.severity is Severity.PROPERTY and private and not set(_OWN_CLASS) & set(cause.given)


def _is_own_input(cause: Cause) -> bool:
    """Whether it is that two models have an input layer each, and not the same one, which costs nothing."""
    first = cause.root.first
    return first is not None and first.kind == "InputLayer" and cause.root.aspect in ("layer unshared", "layer merged")


def _is_of_inputs(cause: Cause) -> bool:
    """Whether it is that, or of the tensors of layers."""
    first = cause.root.first
    of_tensors = aspect_of(cause.root).topic == "ends" and first is not None and first.layer >= 0
    return _is_own_input(cause) or of_tensors


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


def _collisions(shape: Shape) -> set[str]:
    """The names that two weights of one layer of the model have: as HDF5 has them, side by side."""
    seen: set[tuple[int, str]] = set()
    twice = set()
    for weight in {weight.ident: weight for weight in shape.weights}.values():
        layer = weight.owner
        while layer >= 0 and shape.layers[layer].inside >= 0:
            layer = shape.layers[layer].inside
        if (layer, weight.name) in seen:
            twice.add(weight.name)
        seen.add((layer, weight.name))
    return twice


def _unsaved(cause: Cause, collisions: set[str]) -> Cause:
    """The cause; if it gives two weights one name, the clone cannot be saved."""
    is_name = cause.severity is Severity.NAME and any(one.found in collisions for one in cause.differences)
    return replace(cause, severity=Severity.PROPERTY) if is_name else cause


def colliding(cause: Cause) -> list[str]:
    """The names of the weights of the model that have one name in the clone; none where that is not what it costs."""
    of_weights = [one for one in cause.differences if (one.check, one.part) == ("weights", "weight")]
    if cause.severity is not Severity.PROPERTY or any(one.severity is not Severity.NAME for one in cause.differences):
        return []
    found = [one.found for one in of_weights]
    return [one.expected for one in of_weights if found.count(one.found) > 1]
