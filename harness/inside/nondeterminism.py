"""Whether a model gives the same each time it is called: of one that does not, no clone can be said to differ."""

from __future__ import annotations

from typing import Any, Callable

NONDETERMINISTIC = {
    "type": "Unsteady",
    "message": "the model gives other outputs each time it is called on the same inputs",
    "frames": [],
}
_CALLS = 3
_GIVEN = ("outputs", "steps", "losses")


def is_deterministic(
    original: dict[str, Any], clones: dict[str, dict[str, Any]], call: Callable[[bool], dict[str, Any]]
) -> bool:
    """Whether the original is like itself where a clone, or a clone of one, was not like it.

    `call` calls it again, in training or not. It is held against its further calls only, not against its first: a
    cloner may have changed it.
    """
    for training, name in enumerate(("inference", "training")):
        seen = [each[part] for each in clones.values() for part in ("observation", "twice") if part in each]
        suspect = any(_given(each[name]) != _given(original[name]) for each in seen)
        if suspect or not training and any("inference_after" in each for each in clones.values()):
            first, *others = (_given(call(bool(training))) for _ in range(_CALLS))
            if any(other != first for other in others):
                return False
    return True


def _given(run: dict[str, Any]) -> list[Any]:
    return [run.get(name) for name in _GIVEN]
