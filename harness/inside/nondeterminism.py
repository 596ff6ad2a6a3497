"""Whether a model gives the same each time it is called or trained: if not, no clone can be said to differ."""

from __future__ import annotations

from typing import Any, Callable

NONDETERMINISTIC = {
    "type": "Unsteady",
    "message": "the model gives other outputs, or other gradients, each time on the same inputs",
    "frames": [],
}
_CALLS = 3
_GIVEN = ("outputs", "steps", "losses")


def is_deterministic(
    original: dict[str, Any],
    clones: dict[str, dict[str, Any]],
    call: Callable[[bool], dict[str, Any]],
    train: Callable[[], dict[str, Any]],
) -> bool:
    """Whether the original is like itself where a clone, or a clone of one, was not like it.

    `call` calls it again, in training or not, and `train` takes the training step again. It is held against its further
    calls only, not against its first: a cloner may have changed it.
    """
    seen = [each[part] for each in clones.values() for part in ("observation", "twice") if part in each]
    for training, name in enumerate(("inference", "training")):
        suspect = any(_given(each[name]) != _given(original[name]) for each in seen)
        if suspect or not training and any("inference_after" in each for each in clones.values()):
            first, *others = (_given(call(bool(training))) for _ in range(_CALLS))
            if any(other != first for other in others):
                return False
    step = original.get("trained", {})
    if any(_has_other_gradients(each.get("trained", {}), step) for each in seen):
        once, *more = (train() for _ in range(_CALLS))
        return not any(_has_other_gradients(step, once) for step in more)
    return True


def _has_other_gradients(trained: dict[str, Any], step: dict[str, Any]) -> bool:
    """Whether two steps gave a weight two gradients. What one of them did not come to cannot be chance."""
    pairs = zip(trained.get("gradients", ()), step.get("gradients", ()))
    return any(one is not None and other is not None and one != other for one, other in pairs)


def _given(run: dict[str, Any]) -> list[Any]:
    return [run.get(name) for name in _GIVEN]
