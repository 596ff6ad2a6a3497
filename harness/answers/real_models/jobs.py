"""Recipes tried one after another, or several at once: each in a warm process with a limit of time and of memory.

Owns the processes. A model that fails, hangs or takes too much memory costs itself and nothing else.
"""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Callable, Iterator, Sequence

from clonediff.harness.answers.checked_model.inputs import InputsError
from clonediff.harness.answers.checked_model.looking import CheckWanted, look, not_looked_at
from clonediff.harness.answers.checked_model.record import CheckedModel, Status
from clonediff.harness.answers.jobs import by_jobs
from clonediff.harness.answers.real_models.recipes import Recipe
from clonediff.harness.answers.real_models.results import RealModel
from clonediff.harness.subjects.outcomes import SubjectError
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.subjects.releases import open_subject
from clonediff.harness.subjects.subject import Subject
from clonediff.harness.subjects.warm_child import GIB, Limits
from clonediff.reports.known import KnownIssues

_HOLDS = 5 * GIB // 2
"""A process that holds more, once a model is done with, is replaced."""

Tell = Callable[[str], None]


def limits_of(wanted: CheckWanted, memory: int) -> Limits:
    """The limits of a process that tries models as they are wanted."""
    return Limits(trial=wanted.seconds, memory=memory, recycle=min(memory, _HOLDS), cloning=0)


def started(subject: str, limits: Limits) -> SubjectProcess:
    """A process for a subject; it starts when it is asked for something."""
    return open_subject(Subject.parse(subject), limits=limits)


def try_all(
    recipes: Sequence[Recipe], wanted: CheckWanted, limits: Limits, known: KnownIssues, tell: Tell, *, jobs: int = 1
) -> Iterator[RealModel]:
    """What came of each model, as it comes. `tell` is told where the jobs are; it is called by any thread."""

    @contextlib.contextmanager
    def job() -> Iterator[Callable[[Recipe], RealModel]]:
        with _WarmProcess(limits) as warm:
            yield lambda recipe: RealModel(recipe.name, recipe.source, _checked(recipe, warm, wanted, known, tell))

    return by_jobs(recipes, job, jobs)


def _checked(recipe: Recipe, warm: _WarmProcess, wanted: CheckWanted, known: KnownIssues, tell: Tell) -> CheckedModel:
    """What came of one model, whatever came."""
    began, versions = time.monotonic(), dict[str, str]()
    if recipe.unable:
        return CheckedModel(recipe.name, recipe.subject, Status.NO_SUBJECT, reason=recipe.unable)
    try:
        process = warm.of(recipe.subject)
        versions = process.versions
        tell(f"{recipe.name}: building the model")
        sized = dataclasses.replace(wanted, sizes=recipe.sizes)
        return look(recipe.model, process, sized, known, lambda at: tell(f"{recipe.name}: {at}"))
    except (InputsError, SubjectError) as error:
        return not_looked_at(recipe.name, recipe.subject, error, versions, began)


class _WarmProcess(contextlib.ExitStack):
    """The process of the subject that a job is at; that of another is given up for it."""

    def __init__(self, limits: Limits) -> None:
        super().__init__()
        self._limits = limits
        self._of = ""
        self._process: SubjectProcess | None = None

    def of(self, subject: str) -> SubjectProcess:
        """The process of a subject, started."""
        if self._process is None or self._of != subject:
            self.close()
            self._of, self._process = subject, self.enter_context(started(subject, self._limits))
        self._process.start()
        return self._process
