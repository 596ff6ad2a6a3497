"""How a cloner is called: on a model, with what it is given beside that, in the scopes that were asked for."""

from __future__ import annotations

import contextlib
import faulthandler
from typing import Any, Iterator

from .callback_log import CallbackLog, asked_for
from .cloners import Cloner, TrialContext, call_cloner, clone_model_by
from .cloners.users import is_users, no_model
from .description import Description
from .failures import failure
from .observer import Observer
from .structure import leaves
from .warned import Warned, heard_as

MODEL = "model"
"""The name of an expression for what is cloned instead of the model."""
CLONE_MODEL = "clone_model"
"""The name by which functions of the source call whoever clones their model."""


class Calling:
    """The calls of the cloners of one trial, one cloner after another: `begin` with each."""

    def __init__(self, request: dict[str, Any], module: Any, observer: Observer) -> None:
        self._request = request
        self._module = module
        self._observer = observer
        self._model: Any = None
        self._filters = request["filters"]
        self.arguments: dict[str, str] = request.get("arguments") or {}
        self.seconds = 0.0
        """What a cloner has; one that takes longer ends the process, which says where it was. 0 is no limit."""
        self.callbacks = CallbackLog()
        """What the functions among the arguments were called with by the last cloner."""
        self._last_given: list[Any] = []

    def begin(self, each: Cloner, model: Any, known: dict[str, Any]) -> tuple[TrialContext, Any]:
        """The context of another cloner, and what it is to clone: the model, or what is cloned instead of it."""
        self._model = model
        self.callbacks = CallbackLog()
        self._last_given = []
        context = TrialContext(self._observer.framework, known, self._given)
        if self.arguments and CLONE_MODEL in self._module.__dict__:
            self._module.__dict__[CLONE_MODEL] = clone_model_by(each, context)
        return context, self._value(self.arguments[MODEL]) if MODEL in self.arguments else model

    def call(
        self, name: str, each: Cloner, model: Any, context: TrialContext, warned: Warned | None = None
    ) -> tuple[Any, None] | tuple[None, dict[str, Any]]:
        """The clone, or why there is none. What the cloner warns of, `warned` hears; it ends no call of a cloner.

        In the process of somebody who has a live model, warnings are as they are there.
        """
        # In older releases initializers draw from the backend's generator, where the last run has left its seed: a
        # clone would begin with the weights of an original that was built after a run with the same one.
        self._observer.framework.reseed(self._observer.seed + 7, self._observer.backend_draws)
        live = self._module is None
        hearing = heard_as(self._filters) if live else (warned or Warned()).listening("call_cloner")
        try:
            with hearing, self._within(), self._limited():
                clone = call_cloner(each, model, context)
        except Exception as error:  # what this whole project is about
            return None, failure(error, below="call_cloner")
        refused = no_model(name, clone, self._observer.framework) if is_users(name) else None
        if refused is not None:
            return None, refused
        return clone, None

    def asked(self, clone: Description | None, cloned: Description) -> dict[str, Any]:
        """What the clone function was asked, where there is one."""
        if not self.callbacks.watches:
            return {}
        layers = clone.layers if clone is not None else None
        return {"asked": asked_for(self.callbacks, cloned.layers, self._observer.framework, layers)}

    def _given(self) -> dict[str, Any]:
        """What `clone_model` is given beside the model: its expressions, as they stand in a script."""
        given = {name: self._value(text) for name, text in self.arguments.items() if name != MODEL}
        self._last_given.append(given)
        return self.callbacks.around(given)

    def given_things(self) -> list[Any]:
        """What the cloner was given beside the model: tensors and what made them, and what functions returned."""
        origin = self._observer.framework.origin
        tensors = [leaf for leaf in leaves(self._last_given) if self._observer.framework.is_symbolic(leaf)]
        makers = [maker for tensor in tensors for maker in origin(tensor)[:2]]
        return [*tensors, *makers, *(layer for _, layer in self.callbacks.asked)]

    def _value(self, text: str) -> Any:
        names = dict(self._module.__dict__, model=self._model)
        return eval(text, names)  # noqa: S307 - the script's own words

    @contextlib.contextmanager
    def _limited(self) -> Iterator[None]:
        if self.seconds:
            faulthandler.dump_traceback_later(self.seconds, exit=True)
        try:
            yield
        finally:
            if self.seconds:
                faulthandler.cancel_dump_traceback_later()

    @contextlib.contextmanager
    def _within(self) -> Iterator[None]:
        """The scopes in which a model is cloned."""
        with contextlib.ExitStack() as scopes:
            for text in self._request.get("within", ()):
                scopes.enter_context(eval(text, dict(self._module.__dict__)))  # noqa: S307 - the script's own words
            yield
