"""Recipes tried one after another, or several at once: each in a warm process with a limit of time and of memory.

Owns the processes. A model that fails, hangs or takes too much memory costs itself and nothing else.
"""

from __future__ import annotations

import contextlib
import dataclasses
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence

from clonediff.harness.answers.own_model.inputs import InputsError
from clonediff.harness.answers.own_model.looking import CheckWanted, look
from clonediff.harness.answers.own_model.record import CheckedModel, Status
from clonediff.harness.answers.real_models.recipes import Recipe
from clonediff.harness.answers.real_models.results import RealModel
from clonediff.harness.subjects.outcomes import SubjectError
from clonediff.harness.subjects.process import GIB, Limits, SubjectProcess
from clonediff.harness.subjects.releases import open_subject
from clonediff.harness.subjects.subject import Subject
from clonediff.reports.known import KnownIssues

_HOLDS = 5 * GIB // 2
"""A process that holds more, once a model is done with, is replaced."""

Tell = Callable[[str], None]


@dataclasses.dataclass(frozen=True, slots=True)
class RealWanted:
    """How models are tried: `memory` is the limit of each job in bytes, `seconds` that of each model."""

    jobs: int
    seconds: float
    memory: int
    checks: tuple[str, ...]
    seed: int = 0

    @property
    def limits(self) -> Limits:
        return Limits(trial=self.seconds, memory=self.memory, recycle=min(self.memory, _HOLDS), cloning=0)


def started(subject: str, limits: Limits) -> SubjectProcess:
    """A process for a subject; it starts when it is asked for something."""
    return open_subject(Subject.parse(subject), limits=limits)


def try_all(recipes: Sequence[Recipe], wanted: RealWanted, known: KnownIssues, tell: Tell) -> Iterator[RealModel]:
    """What came of each model, as it comes. `tell` is told where the jobs are; it is called by any thread."""
    todo: queue.SimpleQueue[Recipe] = queue.SimpleQueue()
    for each in recipes:
        todo.put(each)
    done: queue.SimpleQueue[RealModel | BaseException] = queue.SimpleQueue()
    stopped = threading.Event()

    def work() -> None:
        with _Job(wanted, known) as job:
            while not stopped.is_set():
                try:
                    recipe = todo.get_nowait()
                except queue.Empty:
                    return
                try:
                    done.put(job.try_one(recipe, tell))
                except BaseException as error:  # a fault of ours: it is raised where results are read
                    done.put(error)
                    return

    for _ in range(min(wanted.jobs, len(recipes))):
        # A daemon: whoever interrupts it waits for nobody, and a process ends with the thread that started it.
        threading.Thread(target=work, daemon=True).start()
    try:
        for _ in recipes:
            came = done.get()
            if isinstance(came, BaseException):
                raise came
            yield came
    finally:
        stopped.set()


class _Job:
    """One job: the process of the subject that it is at."""

    def __init__(self, wanted: RealWanted, known: KnownIssues) -> None:
        self._wanted = wanted
        self._known = known
        self._of = ""
        self._process: SubjectProcess | None = None
        self._open = contextlib.ExitStack()

    def __enter__(self) -> _Job:
        return self

    def __exit__(self, *raised: object) -> None:
        self._open.close()

    def try_one(self, recipe: Recipe, tell: Tell) -> RealModel:
        """What came of one model, whatever came."""
        began = time.monotonic()
        how, versions = Status.NO_SUBJECT, dict[str, str]()
        if recipe.unable:
            return self._result(recipe, CheckedModel(recipe.name, recipe.subject, how, reason=recipe.unable))
        try:
            process = self._at(recipe.subject)
            how, versions = Status.LOST, process.versions
            tell(f"{recipe.name}: building the model")
            asked = CheckWanted(
                checks=self._wanted.checks,
                sizes=recipe.sizes,
                seed=self._wanted.seed,
                seconds=self._wanted.seconds,
                processes=1,
            )
            checked = look(recipe.model, process, asked, self._known, lambda at: tell(f"{recipe.name}: {at}"))
            return self._result(recipe, checked)
        except InputsError as error:
            how, reason = Status.NOT_CALLED, str(error)
        except SubjectError as error:
            reason = str(error)
        seconds = time.monotonic() - began
        return self._result(
            recipe, CheckedModel(recipe.name, recipe.subject, how, versions, reason=reason, seconds=seconds)
        )

    def _result(self, recipe: Recipe, checked: CheckedModel) -> RealModel:
        return RealModel(recipe.name, recipe.source, checked)

    def _at(self, subject: str) -> SubjectProcess:
        """The process of a subject: that of another is given up for it."""
        if self._process is None or self._of != subject:
            self._open.close()
            self._of, self._process = subject, self._open.enter_context(started(subject, self._wanted.limits))
        self._process.start()
        return self._process
