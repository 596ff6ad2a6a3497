"""Audit one class in this process, or the classes of a target in child processes.

The module itself imports no Keras.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any

from clonediff.harness.inside.frameworks import framework as framework_of
from clonediff.harness.observation import AuditedClass
from clonediff.harness.server.audit import audit_class, generation_of
from clonediff.harness.subjects.outcomes import Lost, RequestError, SubjectError
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.subjects.subject import Subject
from clonediff.strategies.program import Generation


class IncompleteConfig(AssertionError):
    """The config of a class loses an argument."""


def assert_config_is_complete(
    kind: type, *, values: Mapping[str, Iterable[Any]] | None = None, ignore: Collection[str] = ()
) -> None:
    """Raise `IncompleteConfig` if the config of a class loses an argument.

    `kind` is a layer, a loss, or another class with `get_config` and `from_config`, of Keras 3 or `tf_keras`. It is
    created with one argument at a time set to a value other than its default. `values` has values to try first, by
    argument: numbers, strings, and lists, tuples or dictionaries of these. Arguments in `ignore` may be lost.
    """
    user_values = {name: tuple(map(repr, choices)) for name, choices in (values or {}).items()}
    with framework_of(generation_of(kind)).scratch():
        answer = audit_class(kind.__name__, kind, user_values)
    if answer.reason:
        raise ValueError(f"{kind.__name__}: {answer.reason}; pass values for its arguments with `values=`")
    lines = [f"\n  {lost.label}: {lost.reason}" for lost in answer.lost_arguments if lost.name not in ignore]
    if lines:
        raise IncompleteConfig(f"the config of {kind.__name__} loses arguments:{''.join(lines)}")


def classes_of(target: str) -> tuple[Generation, Sequence[str]]:
    """A target's generation, and its classes with a config."""
    with SubjectProcess(Subject("keras")) as process:
        try:
            classes = process.classes(target)
        except RequestError as error:
            raise SubjectError(f"{target}: {error.failure.message if error.failure else error}") from None
    if isinstance(classes, Lost):
        raise SubjectError(f"{target}: its import ends the process: {classes.line}; import it in Python to see why")
    return classes


def audit_all(names: Sequence[str], generation: Generation, jobs: int) -> Iterator[AuditedClass]:
    """Audit classes in `jobs` child processes; yield answers."""
    processes = [SubjectProcess(Subject(generation)) for _ in range(jobs)]
    idle = processes.copy()  # each thread takes one

    def audit(name: str) -> AuditedClass:
        process = idle.pop()
        try:
            answer = process.audit(name)
        finally:
            idle.append(process)
        if isinstance(answer, Lost):
            return AuditedClass(name, reason=f"the audit ends or blocks its process: {answer.line}")
        return answer

    executor = ThreadPoolExecutor(jobs)
    try:
        for future in as_completed([executor.submit(audit, name) for name in names]):
            yield future.result()
    finally:
        for process in processes:
            process.end()
        executor.shutdown(cancel_futures=True)
