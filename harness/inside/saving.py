"""A model saved to a file and loaded from it."""

from __future__ import annotations

import os
import tempfile
from typing import Any

from .failures import failure
from .observer import Observer
from .run import run
from .shape import Description


def save_and_load(
    description: Description, arrays: list[Any], observer: Observer, packing: Any, known: dict[str, Any]
) -> dict[str, Any]:
    """What `Saved` declares on the wire."""
    framework, clock = observer.framework, observer.clock
    with tempfile.TemporaryDirectory(prefix="clonediff-") as folder:
        path = os.path.join(folder, "model.keras")
        with clock.keras("save"):
            try:
                description.model.save(path)
            except Exception as error:  # whatever a model raises is an observation
                return {"saving": failure(error, below="save_and_load")}
        with clock.keras("load"):
            try:
                loaded = framework.load(path, known)
            except Exception as error:  # likewise
                return {"loading": failure(error, below="save_and_load")}
    again = Description(loaded, observer)
    return {"shape": again.shape, "run": run(again, arrays, observer, packing, training=False)}
