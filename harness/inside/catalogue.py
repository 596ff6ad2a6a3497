"""The models that a package has to offer: its classes of models, and what each is constructed with.

Nothing is made here, and nothing is downloaded.
"""

from __future__ import annotations

import importlib
import inspect
from typing import Any, NamedTuple

from .frameworks.interface import Framework


class ModelClass(NamedTuple):
    """A class of models: the arguments that it takes, which of them it needs, and the class of the model that it is
    made around, "" where there is none.
    """

    name: str
    takes: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    made_of: str = ""


_GIVEN = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def model_classes(module: str, framework: Framework) -> dict[str, ModelClass]:
    """The classes of models of a module, each by its own name."""
    room = importlib.import_module(module)
    found = {}
    for name in dir(room):
        kind = getattr(room, name)
        if inspect.isclass(kind) and issubclass(kind, framework.keras.models.Model) and kind.__name__ == name:
            parameters = list(inspect.signature(kind.__init__).parameters.values())[1:]
            takes = tuple(each.name for each in parameters if each.kind in _GIVEN)
            needs = tuple(each.name for each in parameters if each.kind in _GIVEN and each.default is each.empty)
            found[name] = ModelClass(name, takes, needs, _made_of(kind))
    return found


def _made_of(kind: Any) -> str:
    """The class of the model that one is made around, "" where it says none: a task of keras_hub has a backbone."""
    backbone = getattr(kind, "backbone_cls", None)
    return backbone.__name__ if inspect.isclass(backbone) else ""
