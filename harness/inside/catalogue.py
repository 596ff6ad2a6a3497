"""The models that a package has to offer: its classes of models, and what each is constructed with.

Nothing is made here, and nothing is downloaded.
"""

from __future__ import annotations

import importlib
import inspect
from typing import Any

from .frameworks.interface import Framework

_GIVEN = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def model_classes(module: str, framework: Framework) -> list[dict[str, Any]]:
    """The classes of models of a module, each under its own name, as `ModelClass` declares them on the wire."""
    room = importlib.import_module(module)
    found = []
    for name in dir(room):
        kind = getattr(room, name)
        if inspect.isclass(kind) and issubclass(kind, framework.keras.models.Model) and kind.__name__ == name:
            found.append(dict(_constructor(kind), name=name, made_of=_made_of(kind)))
    return found


def _constructor(kind: Any) -> dict[str, Any]:
    parameters = list(inspect.signature(kind.__init__).parameters.values())[1:]
    named = [each for each in parameters if each.kind in _GIVEN]
    return {
        "takes": [each.name for each in named],
        "needs": [each.name for each in named if each.default is each.empty],
    }


def _made_of(kind: Any) -> str:
    """The class of the model that one is made around, "" where it says none: a task of keras_hub has a backbone."""
    backbone = getattr(kind, "backbone_cls", None)
    return backbone.__name__ if inspect.isclass(backbone) else ""
