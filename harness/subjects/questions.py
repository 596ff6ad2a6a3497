"""What a subject is asked beside trials: what there is in its release, and what comes of a call or a model there.

Owns the questions and what the loss of a child means for each; `process.SubjectProcess` has the child.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from clonediff.harness.subjects.outcomes import LostProcess, ModelClass, Ready, SubjectError, Told
from clonediff.harness.subjects.subject import Subject
from clonediff.strategies.kinds.of_release import Signature


class Questions:
    """What can be asked of a subject, whoever has its child."""

    def __init__(self, subject: Subject) -> None:
        """Nothing is asked yet."""
        self.subject = subject
        self._layers: dict[tuple[str, ...], dict[str, Signature]] = {}

    def start(self) -> Ready:
        """Have a child that runs."""
        raise NotImplementedError

    def prepare(self) -> None:
        """Have the child that the next trial runs in."""
        raise NotImplementedError

    def _asked_for(self, what: str, request: dict[str, Any], timeout: float | None, problem: str) -> Any:
        """What the child says when it is asked for that, or the `LostProcess` that it became over it.

        Without a `timeout` it may take as long as a start: an import that was not compiled yet takes its time.
        """
        raise NotImplementedError

    def applications(self) -> tuple[str, ...]:
        """The names of the models that come with this Keras."""
        self.start()
        found: tuple[str, ...] | LostProcess = self._asked_for("applications", {}, 60.0, "lists no applications")
        if isinstance(found, LostProcess):
            raise SubjectError(f"{self.subject}: lost while it listed its applications")
        return found

    def model_classes(self, module: str) -> tuple[ModelClass, ...]:
        """The classes of models that a module of another package has, and what they are constructed with."""
        self.start()
        found: tuple[ModelClass, ...] | LostProcess = self._asked_for(
            "classes", {"module": module}, None, f"cannot look at {module}"
        )
        if isinstance(found, LostProcess):
            raise SubjectError(f"{self.subject}: lost while it looked at {module} ({found})")
        return found

    def layers(self, names: Iterable[str]) -> dict[str, Signature]:
        """What layers take that are not Keras' own; see `inside.other_layers` for their names."""
        wanted = tuple(names)
        if not wanted:
            return {}
        if wanted not in self._layers:
            self.prepare()
            found: dict[str, Signature] | LostProcess = self._asked_for(
                "layers", {"names": list(wanted)}, None, f"cannot import {', '.join(wanted)}"
            )
            if isinstance(found, LostProcess):
                raise SubjectError(f"{self.subject}: cannot import {', '.join(wanted)}: {found.said}")
            self._layers[wanted] = found
        return self._layers[wanted]

    def gives(self, question: dict[str, Any], timeout: float = 30.0) -> Told:
        """What a call gives that is tried; see `inside.asking`. One that takes the process with it is refused."""
        self.start()
        found: Told | LostProcess = self._asked_for("gives", {"question": question}, timeout, "cannot try a call")
        return Told(why=found.how) if isinstance(found, LostProcess) else found

    def refuses(self, request: dict[str, Any], timeout: float = 30.0) -> str:
        """Why a model cannot be built, nor the one that is asked for beside it; "" where they can be."""
        self.start()
        found: str | LostProcess = self._asked_for("refuses", request, timeout, "cannot try to build a model")
        return found.how if isinstance(found, LostProcess) else found
