"""The classes of a target, several at once, each in a process that has a Keras."""

from __future__ import annotations

import multiprocessing
import resource
import signal
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool

import msgspec

from clonediff.harness.answers.audit.hub import made_with
from clonediff.harness.answers.audit.one_class import Auditor
from clonediff.harness.answers.audit.record import AuditedClass, ClassAudited
from clonediff.harness.answers.keras_here import keras_here
from clonediff.harness.inside.audit import Audit
from clonediff.harness.inside.audited_classes import audited_classes, generation_of_target
from clonediff.harness.source import DIALECTS
from clonediff.strategies.kinds import Generation

_auditors: list[Auditor] = []
"""That of this process, once it has a Keras."""


def classes_of(target: str) -> tuple[Generation, list[AuditedClass]]:
    """The classes with a config that a package, a module or a file has, or the one that is named."""
    keras_here("keras")
    generation: Generation = "tf_keras" if generation_of_target(target) == "tf_keras" else "keras"
    found = audited_classes(target, keras_here(generation))
    return generation, msgspec.convert(found, list[AuditedClass])


def audit_all(
    classes: Sequence[AuditedClass], generation: Generation, jobs: int, memory: int
) -> Iterator[ClassAudited]:
    """What came of each class, as it comes; a job has so many bytes. A class that ends its process is not audited."""
    left, starts = list(classes), (generation, classes, memory)
    while left:
        spawn = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(jobs, spawn, initializer=_start, initargs=starts) as pool:
            futures = {pool.submit(_audit, kind): kind for kind in left}
            try:
                for future in as_completed(futures):
                    if not isinstance(future.exception(), BrokenProcessPool):
                        left.remove(futures[future])
                        yield future.result()
            except KeyboardInterrupt:
                for child in multiprocessing.active_children():
                    child.terminate()
                raise
        if left and jobs == 1:
            yield ClassAudited(left.pop(0).name, reason="it takes its process with it")
        jobs = 1  # of one at a time, the first that is left is at fault


def _start(generation: Generation, classes: Sequence[AuditedClass], memory: int) -> None:
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    framework = keras_here(generation)
    made = made_with(classes, framework)
    _auditors.append(Auditor(Audit(framework), DIALECTS[generation], made_with=made))


def _audit(kind: AuditedClass) -> ClassAudited:
    return _auditors[0].audit(kind)
