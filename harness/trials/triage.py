"""Gives each cloner a verdict and causes, and each cause a fingerprint and blame.

A fingerprint has the check, the aspect, the kind of layer if other kinds do not show the fault, and the type and frame
of an exception, but no name, index, message or address: it is the same for every seed, process and release.
"""

from __future__ import annotations

import enum
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from clonediff.harness.observation import LayerRecord, Observation
from clonediff.harness.subjects.outcomes import TIMED_OUT
from clonediff.harness.trials.checks import CHECKS, Stage, aspect_of
from clonediff.harness.trials.checks.aspects import ARGUMENTS
from clonediff.harness.trials.checks.flow import Flow
from clonediff.harness.trials.checks.roots import group_by_cause
from clonediff.harness.trials.titles import form_of, sentence
from clonediff.reports.records import UPSTREAM_AND_FIXED, Blame, Cause, Difference, Place
from clonediff.strategies.layers import CATALOGUE


class Verdict(enum.StrEnum):
    FAITHFUL = "faithful"
    DIVERGED = "diverged"
    CRASHED = "crashed"
    TIMED_OUT = "timed out"
    KILLED = "killed its process"


_FUNCTION = re.compile(r"\bfunction (\w+) [0-9a-f]+\b")
_DIMENSIONS = re.compile(r"(?<=^in ConvLSTM)[23]D$")
"""Sublayers of ConvLSTM1D, 2D and 3D have the same fingerprint, since the three have one base class."""

_SAME_FRAMES = {
    "keras/src/models/cloning.py:_clone_sequential_model": "keras/src/models/cloning.py:_clone_functional_model",
    "keras/src/models/functional.py:process_node": "keras/src/ops/function.py:_run_through_graph",
}
"""Frames that do the same; in a fingerprint, the second replaces the first."""

_CUSTOM_MODEL = re.compile(r"^(OwnModel|OwnSequential)(_\d+)?$")
"""A custom class of a drawn model; further ones have a number."""
_PLAIN_KINDS = {"OwnModel": "Functional", "OwnSequential": "Sequential"}
_MODELS = ("Functional", "Sequential")
_LAYER_FILE = re.compile(r"/layers/(?!layer\.py|__init__)")


def verdict(differences: Sequence[Difference]) -> Verdict:
    failures = [item for item in differences if item.check == "made"]
    if not failures:
        return Verdict.DIVERGED if differences else Verdict.FAITHFUL
    reasons = {item.name for item in failures if item.part == "process"}
    if not reasons:
        return Verdict.CRASHED
    return Verdict.TIMED_OUT if TIMED_OUT in reasons else Verdict.KILLED


def causes(
    original: Observation | None, differences: Sequence[Difference], arguments: tuple[str, ...] = ()
) -> list[Cause]:
    """The causes of differences, the worst first; `arguments` are `clone_model`'s."""
    flow = Flow(()) if original is None else Flow.find(original)
    result = []
    for name, (root, *followers) in group_by_fingerprint(flow, differences).items():
        severity = min(item.severity for item in (root, *followers))
        result.append(Cause(name, root, tuple(followers), severity, (*arguments, *_model_properties(original, root))))
    return sorted(result, key=lambda cause: cause.severity)


def group_by_fingerprint(flow: Flow, differences: Sequence[Difference]) -> dict[str, list[Difference]]:
    """Each cause's differences by fingerprint; the first explains the others."""
    groups: dict[str, list[Difference]] = {}
    for group in group_by_cause(flow, differences):
        groups.setdefault(fingerprint(group[0]), []).extend(group)
    return groups


def _model_properties(original: Observation | None, root: Difference) -> Iterator[str]:
    """Yield the model's properties, listed in `Cause`, that may explain a cause."""
    names = _FUNCTION.findall(root.expected)
    if names and names == _FUNCTION.findall(root.found):
        yield "a function of the same name"
    if original is None:
        return
    layers, first = original.structure.layers, root.first
    for kind in sorted({layer.kind for layer in layers if layer.node_counts[0] > 1}):
        yield f"{kind} called more than once"
    if root.check == "made" and root.raised is not None:
        if root.raised.calling and any(_has_list_of_one(call.args[:1]) for layer in layers for call in layer.calls):
            yield "a list of one tensor"
        if any(layer.kind == "Lambda" and layer.config.get("mask", "None") != "None" for layer in layers):
            yield "a Lambda with a mask"
    if first is not None and first.layer >= 0:
        yield from _layer_properties(layers, first)
    elif first is not None and original.structure.is_custom:
        yield "a custom model"


def _layer_properties(layers: Sequence[LayerRecord], first: Place) -> Iterator[str]:
    """Yield properties of the layer at fault, such as "a custom layer"."""
    if first.layer < len(layers) and layers[first.layer].kind == first.kind and not layers[first.layer].calls:
        yield "a layer that the graph does not call"
    by_kind = {layer.kind: layer for layer in layers}
    layer, holder = by_kind.get(first.kind), by_kind.get(first.inside)
    if layer is not None and layer.is_custom:
        yield "a custom model" if layer.is_model else "a custom layer"
    if holder is not None and not holder.is_model:
        yield "inside a layer"
        if holder.is_custom:
            yield "inside a custom layer"


def _has_list_of_one(args: list[Any]) -> bool:
    """Whether the first argument is a list of only one tensor."""
    first = args[0] if args else None
    items = first.get("tuple") if isinstance(first, dict) else first
    return isinstance(items, list) and len(items) == 1 and isinstance(items[0], dict) and "tensor" in items[0]


def fingerprint(root: Difference) -> str:
    """A cause's fingerprint: words of its signature, and a short hash."""
    key = signature(root)
    digest = hashlib.blake2b("\n".join(key).encode(), digest_size=4).hexdigest()
    slug = re.sub(r"[^a-z0-9]+", "-", "-".join(filter(None, key[:4])).lower()).strip("-")
    return f"{slug[:60].rstrip('-')}-{digest}"


def signature(root: Difference) -> tuple[str, str, str, str, str]:
    """A fingerprint's parts: check, aspect, kind, type of exception, frame.

    If a layer raises during cloning, the frame is its caller, which passed the wrong arguments. In checks of cloning,
    an exception with a frame of Keras has no kind, even if the message names a layer.
    """
    raised = root.raised
    if raised is None:
        return root.check, *_aspect_and_kind(root), "", ""
    if not CHECKS[root.check].is_cloning:
        return root.check, _aspect(root), _kind(root), raised.type, raised.frame
    if raised.calling:
        calling = _SAME_FRAMES.get(raised.calling, raised.calling)
        return root.check, f"{_aspect(root)} in a call", "", raised.type, calling
    frame = _SAME_FRAMES.get(raised.frame, raised.frame)
    return root.check, _aspect(root), "" if frame else _kind(root), raised.type, frame


def _aspect_and_kind(root: Difference) -> tuple[str, str]:
    """The aspect and kind in a fingerprint; several aspects may share one name."""
    aspect, kind, shared_name = _aspect(root), _kind(root), aspect_of(root).shared_name
    holder = CATALOGUE.get(kind.removeprefix("in "))
    if kind.startswith("in ") and holder is not None and holder.family == "custom":
        return aspect, "in a layer of one's own"
    # A difference in the original, or in a second clone, keeps its own name.
    return shared_name if shared_name and root.model == "clone" else aspect, _DIMENSIONS.sub("1D", kind)


def is_same_bug(cause: Cause, counterpart: Cause) -> bool:
    """Whether causes are the same bug, perhaps in different frames."""
    key, other_key = (
        (root.check, _aspect(root), _kind(root), root.raised.type if root.raised else "")
        for root in (cause.root, counterpart.root)
    )
    return key == other_key or cause.fingerprint == counterpart.fingerprint


def is_clone_made(causes: Iterable[Cause]) -> bool:
    return not any(cause.root.check == "made" for cause in causes)


def add_blame(by_cloner: Mapping[str, Sequence[Cause]]) -> dict[str, tuple[Cause, ...]]:
    """Each cloner's causes, with blame.

    If upstream was not called or made no clone, the blame for causes of fixed is unknown.
    """
    upstream, fixed = UPSTREAM_AND_FIXED
    upstream_causes, fixed_causes = by_cloner.get(upstream, ()), by_cloner.get(fixed, ())
    is_compared = upstream in by_cloner and is_clone_made(upstream_causes)
    blames = {upstream: Blame.UPSTREAM, fixed: Blame.FIXED if is_compared else Blame.UNKNOWN}
    counterparts = {upstream: fixed_causes, fixed: upstream_causes}

    def blame(cloner: str, cause: Cause) -> Blame:
        is_shared = any(is_same_bug(cause, counterpart) for counterpart in counterparts.get(cloner, ()))
        return Blame.BOTH if is_shared else blames.get(cloner, Blame.CLONER)

    return {name: tuple(replace(cause, blame=blame(name, cause)) for cause in by_cloner[name]) for name in by_cloner}


def title(cause: Cause, layer: str | None = None) -> str:
    """A cause's title; with `layer`, it names the layer of a particular model."""
    root = cause.root
    return sentence(root, _kind(root) if root.raised is None else signature(root)[2], layer)


def use_plain_models(differences: Iterable[Difference]) -> list[Difference]:
    """Replace drawn custom models' classes with Keras', unless the difference is in the class or an attribute."""
    return [item if item.first is None else replace(item, first=_plain_place(item, item.first)) for item in differences]


def _plain_place(difference: Difference, first: Place) -> Place:
    custom = _CUSTOM_MODEL.match(first.kind)
    holder = _CUSTOM_MODEL.match(first.inside)
    is_about_class = difference.part in ("kind", "attribute")
    kind = first.kind if custom is None else custom[1] if is_about_class else _PLAIN_KINDS[custom[1]]
    return replace(first, kind=kind, inside=first.inside if holder is None else _PLAIN_KINDS[holder[1]])


def _kind(root: Difference) -> str:
    """The kind in a fingerprint; "" if any layer can show it."""
    first = root.first
    if first is None:
        return ""
    if root.raised is not None and _LAYER_FILE.search(root.raised.frame):
        return ""
    if first.kind == "InputLayer" or not aspect_of(root).any_layer:
        return first.kind
    if first.layer < 0:
        return "model"
    if root.part != "trainable":
        return ""
    # Models, layers and sublayers are created by different code, which may lose the flag.
    if first.kind in _MODELS:
        return first.kind
    return f"in {first.inside}" if first.inside and first.inside not in _MODELS else ""


def _aspect(root: Difference) -> str:
    aspect = root.aspect
    if root.part in ARGUMENTS and root.change == "type":
        form, found_form = form_of(root.expected)[0], form_of(root.found)[0]
        is_same_line = root.model == "clone" and (form, found_form) == ("tuple", "tensor")
        # The line of Keras that loses a tuple also loses a list of one tensor: one fingerprint.
        aspect = f"call {'list' if is_same_line else form} as {found_form}"
    elif root.argument:
        aspect = f"call {root.argument} {root.change}"
    if root.model != "clone":
        return f"{root.model} {aspect}"
    # A difference only in training mode has another cause.
    only_in_training = root.run == "training" and CHECKS[root.check].stage is Stage.RUNS
    return f"{aspect} in training" if only_in_training else aspect
