"""A clone that was made with functions of the user's, held against their layers called one by one."""

from __future__ import annotations

from typing import Any

from .callback_log import CallbackLog, by_hand
from .description import Description
from .observer import Observer
from .run import Reader, run
from .structure import leaves
from .values import fits, input_arrays, specs_of


def compared_by_hand(
    clone: Description,
    original: Description,
    callbacks: CallbackLog,
    arrays: list[Any],
    batch: int | None,
    observer: Observer,
) -> dict[str, Any]:
    """What the graph gives with the layers that were given, and what the clone gives, on the same numbers."""
    ends = clone.shape["inputs"]
    if not fits(ends, arrays):
        arrays = input_arrays(specs_of(ends), batch, observer.seed)
    ran = run(clone, arrays, observer, clone.model, training=False)
    told: dict[str, Any] = {"found": [leaf["digest"] for leaf in ran["outputs"]]}
    if "failure" in ran:
        told["failure"] = ran["failure"]
    if not callbacks.asked and not callbacks.calls:
        whole = run(original, arrays, observer, original.model, training=False)
        if "failure" not in whole:
            return dict(told, expected=[leaf["digest"] for leaf in whole["outputs"]])
    try:
        framework = observer.framework
        inputs = list(leaves(framework.feed(clone.model, arrays)))
        numbers = by_hand(original.model, callbacks, inputs, framework)
    except Exception as error:  # what the layers make of these numbers is theirs to say
        why = str(error) if type(error) is LookupError else "%s: %s" % (type(error).__name__, error)
        return dict(told, why=why)
    reader = Reader(observer)
    reader.read([numbers])
    return dict(told, expected=[reader.digest(number) for number in numbers])
