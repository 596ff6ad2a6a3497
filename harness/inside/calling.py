"""How a cloner is called: on a model, with what it is given beside that, in the scopes that were asked for."""

from __future__ import annotations

import contextlib
import faulthandler
import signal
from collections.abc import Iterator
from typing import Any

from ..observation import Case, Failure
from .cloners import Cloner, TrialContext, call_cloner, clone_model_by
from .cloners.users import is_users, no_model
from .failures import failure
from .observer import Observer
from .structure import leaves
from .warned import Warned, heard_as

CLONE_MODEL = "clone_model"
"""The name by which functions of the source call whoever clones their model."""


class Calling:
    """The calls of the cloners of one trial, one cloner after another: `begin` with each."""

    def __init__(self, case: Case, module: Any, observer: Observer, filters: Any) -> None:
        self._case, self._module, self._observer = case, module, observer
        self._filters = filters
        """The filters of warnings in the process of a live model."""
        self._model: Any = None
        self.seconds = 0.0
        """What a cloner has; one that takes longer ends the process, which says where it was. 0 is no limit."""
        self._arguments: list[dict[str, Any]] = []

    def begin(self, cloner: Cloner, model: Any, known: dict[str, Any]) -> TrialContext:
        """The context of another cloner, which is to clone the model."""
        self._model, self._arguments = model, []
        context = TrialContext(self._observer.framework, known, self._values)
        if self._case.arguments and CLONE_MODEL in self._module.__dict__:
            self._module.__dict__[CLONE_MODEL] = clone_model_by(cloner, context)
        return context

    def call(
        self, name: str, cloner: Cloner, model: Any, context: TrialContext, warned: Warned | None = None
    ) -> tuple[Any, Failure | None]:
        """The clone, or why there is none. What the cloner warns of, `warned` hears; it ends no call of a cloner.

        In the process of a live model, warnings are filtered as its user has set it.
        """
        # In older releases initializers draw from the backend's generator, where the last run has left its seed: a
        # clone would begin with the weights of an original that was built after a run with the same one.
        self._observer.framework.reseed(self._observer.seed + 7, self._observer.backend_draws)
        live = self._module is None
        hearing = heard_as(self._filters) if live else (warned or Warned()).listening("call_cloner")
        try:
            with hearing, self._within():
                clone = call_cloner(cloner, model, context)
        except Exception as error:  # what this whole project is about
            return None, failure(error, below="call_cloner")
        return clone, no_model(name, clone, self._observer.framework) if is_users(name) else None

    def _values(self) -> dict[str, Any]:
        """What `clone_model` is given beside the model: its expressions, as they stand in a script."""
        values = {name: self._value(text) for name, text in self._case.arguments.items()}
        self._arguments.append(values)
        return values

    def objects(self) -> list[Any]:
        """The objects that a clone may have of its arguments: tensors and what made them."""
        framework = self._observer.framework
        tensors = [leaf for leaf in leaves(self._arguments) if isinstance(leaf, framework.tensor_class)]
        makers = [maker for tensor in tensors for maker in framework.origin(tensor)[:2]]
        return [*tensors, *makers]

    def _value(self, text: str) -> Any:
        names = dict(self._module.__dict__, model=self._model)
        return eval(text, names)

    @contextlib.contextmanager
    def _within(self) -> Iterator[None]:
        """The scopes in which a model is cloned, and the limit of time."""
        with contextlib.ExitStack() as scopes:
            for text in self._case.within:
                scopes.enter_context(eval(text, dict(self._module.__dict__)))
            if self.seconds:
                faulthandler.register(signal.SIGALRM, chain=True)  # it writes where it is; the signal ends the process
                signal.setitimer(signal.ITIMER_REAL, self.seconds)
                scopes.callback(signal.setitimer, signal.ITIMER_REAL, 0)
            yield
