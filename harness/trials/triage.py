"""A verdict on a cloner, the causes behind its differences, what each is called, and whose fault it is.

Owns fingerprints. One is made of the check, the aspect, the kind of the first layer where the fault is that kind's, the
type of an exception and the frame it came from; never of a name, an index, a message or an address. So it is the same
for another seed, another process and another release, and whichever layer met it.
"""

from __future__ import annotations

import enum
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from clonediff.harness.observation import LayerSeen, Observation
from clonediff.harness.subjects.outcomes import TIMED_OUT
from clonediff.harness.trials.checks import CHECKS, Stage, aspect_of
from clonediff.harness.trials.checks.aspects import ARGUMENTS
from clonediff.harness.trials.checks.flow import Flow
from clonediff.harness.trials.checks.roots import roots
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
"""ConvLSTM1D, 2D and 3D have one base class, so faults of the layers in them have one fingerprint."""

_SAME_FRAME = {
    "keras/src/models/cloning.py:_clone_sequential_model": "keras/src/models/cloning.py:_clone_functional_model",
    "keras/src/models/functional.py:process_node": "keras/src/ops/function.py:_run_through_graph",
}
"""Frames that count as another one, which does the same for a Sequential or for a nested model."""

_OWN = re.compile(r"^(OwnModel|OwnSequential)(_\d+)?$")
"""A custom class that a drawn model is of; where there are several they have numbers."""
_PLAIN = {"OwnModel": "Functional", "OwnSequential": "Sequential"}
_MODELS = ("Functional", "Sequential")
_LAYER_FILE = re.compile(r"/layers/(?!layer\.py|__init__)")


def verdict(differences: Sequence[Difference]) -> Verdict:
    """The verdict on a cloner, by all that is wrong with its clone."""
    made = [difference for difference in differences if difference.check == "made"]
    if not made:
        return Verdict.DIVERGED if differences else Verdict.FAITHFUL
    ends = {difference.name for difference in made if difference.part == "process"}
    if not ends:
        return Verdict.CRASHED
    return Verdict.TIMED_OUT if TIMED_OUT in ends else Verdict.KILLED


def causes(original: Observation | None, differences: Sequence[Difference], given: tuple[str, ...] = ()) -> list[Cause]:
    """The causes behind differences, the worst first; `given` is what `clone_model` was given."""
    flow = Flow(()) if original is None else Flow.of(original)
    result = []
    for mark, (root, *followers) in causes_of(flow, differences).items():
        severity = min(difference.severity for difference in (root, *followers))
        result.append(Cause(mark, root, tuple(followers), severity, (*given, *_facts(original, root))))
    return sorted(result, key=lambda cause: cause.severity)


def causes_of(flow: Flow, differences: Sequence[Difference]) -> dict[str, list[Difference]]:
    """The differences of each cause, the root first, by the fingerprint of that; causes with one are one."""
    merged: dict[str, list[Difference]] = {}
    for group in roots(flow, differences):
        merged.setdefault(fingerprint(group[0]), []).extend(group)
    return merged


def _facts(original: Observation | None, root: Difference) -> Iterator[str]:
    """The facts of the model that may be behind a cause; the docstring of `Cause` lists them."""
    names = _FUNCTION.findall(root.expected)
    if names and names == _FUNCTION.findall(root.found):
        yield "a function of the same name"
    if original is None:
        return
    layers, first = original.shape.layers, root.first
    for kind in sorted({layer.kind for layer in layers if layer.nodes[0] > 1}):
        yield f"{kind} called more than once"
    if root.check == "made" and root.raised is not None:
        if root.raised.calling and any(_is_of_one(call.args[:1]) for layer in layers for call in layer.calls):
            yield "a list of one tensor"
        if any(layer.kind == "Lambda" and layer.config.get("mask", "None") != "None" for layer in layers):
            yield "a Lambda with a mask"
    if first is not None and first.layer >= 0:
        yield from _classes(layers, first)
    elif first is not None and original.shape.own:
        yield "a custom model"


def _classes(layers: Sequence[LayerSeen], first: Place) -> Iterator[str]:
    """Whether the graph does not call the layer at fault, its class is custom, or a layer (not a model) holds it."""
    if first.layer < len(layers) and layers[first.layer].kind == first.kind and not layers[first.layer].calls:
        yield "a layer that the graph does not call"
    classes = {layer.kind: layer for layer in layers}
    layer, holder = classes.get(first.kind), classes.get(first.inside)
    if layer is not None and layer.own:
        yield "a custom model" if layer.model else "a custom layer"
    if holder is not None and not holder.model:
        yield "inside a layer"
        if holder.own:
            yield "inside a custom layer"


def _is_of_one(args: list[Any]) -> bool:
    """Whether the first of a call's arguments is a list or a tuple that holds one tensor and nothing else."""
    first = args[0] if args else None
    items = first.get("tuple") if isinstance(first, dict) else first
    return isinstance(items, list) and len(items) == 1 and isinstance(items[0], dict) and "tensor" in items[0]


def fingerprint(root: Difference) -> str:
    """The name of a cause, good for a folder: the words of its key and a short hash of it."""
    key = signature(root)
    digest = hashlib.blake2b("\n".join(key).encode(), digest_size=4).hexdigest()
    slug = re.sub(r"[^a-z0-9]+", "-", "-".join(filter(None, key[:4])).lower()).strip("-")
    return f"{slug[:60].rstrip('-')}-{digest}"


def signature(root: Difference) -> tuple[str, str, str, str, str]:
    """What a fingerprint is made of: check, aspect, kind, type of exception, frame.

    Where a layer raises while the clone is made, the frame that called it counts, since it was called with something
    else. An exception in a frame of the framework is the framework's, whichever layer its message names.
    """
    raised = root.raised
    if raised is None:
        return root.check, *_as_one(root), "", ""
    if not CHECKS[root.check].cloning:
        return root.check, _aspect(root), _kind(root), raised.type, raised.frame
    if raised.calling:
        calling = _SAME_FRAME.get(raised.calling, raised.calling)
        return root.check, f"{_aspect(root)} in a call", "", raised.type, calling
    frame = _SAME_FRAME.get(raised.frame, raised.frame)
    return root.check, _aspect(root), "" if frame else _kind(root), raised.type, frame


def _as_one(root: Difference) -> tuple[str, str]:
    """The aspect and the kind of a cause as those of its like are called."""
    aspect, kind, known_as = _aspect(root), _kind(root), aspect_of(root).known_as
    holder = CATALOGUE.get(kind.removeprefix("in "))
    if kind.startswith("in ") and holder is not None and holder.family == "custom":
        return aspect, "in a layer of one's own"
    # What differs in the original that was left changed, or in another clone, is another matter.
    return known_as if known_as and root.model == "clone" else aspect, _DIMENSIONS.sub("1D", kind)


def alike(cause: Cause, counterpart: Cause) -> bool:
    """Whether two cloners, or two releases, break alike. Frames are not compared, since each has its own."""
    likeness, other_likeness = (
        (root.check, _aspect(root), _kind(root), root.raised.type if root.raised else "")
        for root in (cause.root, counterpart.root)
    )
    return likeness == other_likeness or cause.fingerprint == counterpart.fingerprint


def makes_a_clone(causes: Iterable[Cause]) -> bool:
    """Whether a cloner with these causes has made a clone at all, in which others could show."""
    return not any(cause.root.check == "made" for cause in causes)


def with_blame(by_cloner: Mapping[str, Sequence[Cause]]) -> dict[str, tuple[Cause, ...]]:
    """The causes of each cloner, with whose fault they are.

    Where upstream was not asked, or made no clone, whose fault it is what fixed shows is not known.
    """
    upstream, fixed = UPSTREAM_AND_FIXED
    theirs, ours = by_cloner.get(upstream, ()), by_cloner.get(fixed, ())
    compared = upstream in by_cloner and makes_a_clone(theirs)
    alone = {upstream: Blame.UPSTREAM, fixed: Blame.OURS if compared else Blame.UNKNOWN}
    others = {upstream: ours, fixed: theirs}

    def blame(cloner: str, cause: Cause) -> Blame:
        shared = any(alike(cause, counterpart) for counterpart in others.get(cloner, ()))
        return Blame.BOTH if shared else alone.get(cloner, Blame.ITS_OWN)

    return {name: tuple(replace(cause, blame=blame(name, cause)) for cause in by_cloner[name]) for name in by_cloner}


def title(cause: Cause, layer: str | None = None) -> str:
    """A sentence that says what is wrong; of one model, whose layer has that name."""
    root = cause.root
    return sentence(root, _kind(root) if root.raised is None else signature(root)[2], layer)


def of_plain_models(differences: Iterable[Difference]) -> list[Difference]:
    """The differences, each model of a custom class taken for a plain one, unless the class itself differs."""
    return [
        difference if difference.first is None else replace(difference, first=_of_plain(difference, difference.first))
        for difference in differences
    ]


def _of_plain(difference: Difference, first: Place) -> Place:
    own, holder = _OWN.match(first.kind), _OWN.match(first.inside)
    is_of_class = difference.part in ("kind", "attribute")
    kind = first.kind if own is None else own[1] if is_of_class else _PLAIN[own[1]]
    return replace(first, kind=kind, inside=first.inside if holder is None else _PLAIN[holder[1]])


def _kind(root: Difference) -> str:
    """The kind that a fingerprint names; "" where layers of any kind can show the cause."""
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
    # A model is made by other code than a layer, and what a layer holds is made by that layer.
    if first.kind in _MODELS:
        return first.kind
    return f"in {first.inside}" if first.inside and first.inside not in _MODELS else ""


def _aspect(root: Difference) -> str:
    aspect = root.aspect
    if root.part in ARGUMENTS and root.change == "type":
        form, found = form_of(root.expected)[0], form_of(root.found)[0]
        is_one_line = root.model == "clone" and (form, found) == ("tuple", "tensor")
        aspect = f"call {'list' if is_one_line else form} as {found}"  # which loses a list of one tensor, too
    elif root.argument:
        aspect = f"call {root.argument} {root.change}"
    if root.model != "clone":
        return f"{root.model} {aspect}"
    # A value that differs in training mode only is another matter than one that differs always.
    is_of_training = root.run == "training" and CHECKS[root.check].stage is Stage.RUNS
    return f"{aspect} in training" if is_of_training else aspect
