"""The audit of classes: in the caller's own process, for tests of one's own package, and of a target, in several.

Importing this module imports no Keras.
"""

from __future__ import annotations

import multiprocessing
import resource
import signal
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import Any

import psutil  # type: ignore[import-untyped]  # it comes without types

from clonediff.harness.answers.audit.classes import AuditedClass, audited_class, classes, generation_of
from clonediff.harness.answers.audit.one_class import Auditor, ClassAudited
from clonediff.harness.answers.audit.values import made_with
from clonediff.harness.answers.keras_here import keras_here
from clonediff.harness.inside.audit import Audit
from clonediff.harness.inside.frameworks import framework as framework_of
from clonediff.strategies.dialects import DIALECTS
from clonediff.strategies.program import Generation

_auditors: list[Auditor] = []
"""That of this process, once it has a Keras."""


class IncompleteConfig(AssertionError):
    """A config that loses an argument."""


def assert_config_is_complete(
    kind: type, *, values: Mapping[str, Iterable[Any]] | None = None, ignore: Collection[str] = ()
) -> None:
    """Raise `IncompleteConfig` where an object of a class, revived from its config, has lost an argument.

    `kind` is a layer, a loss, or another class with `get_config` and `from_config`, of Keras 3 or `tf_keras`. It is
    made with one argument at a time away from its default. `values` has values to try first, by the name of an
    argument; numbers, texts, lists, tuples and dictionaries of them. An argument in `ignore` may be lost.
    """
    generation = generation_of(kind)
    framework = framework_of(generation)
    more = {name: tuple(map(repr, choices)) for name, choices in (values or {}).items()}
    with framework.scratch():
        described = audited_class(kind.__name__, kind, framework.keras)
        audited = Auditor(Audit(framework, {kind.__name__: kind}), DIALECTS[generation], more).audit(described)
    if audited.reason:
        raise ValueError(f"{kind.__name__}: {audited.reason}; `values` may name what its arguments can be")
    lost = [f"\n  {argument.given}: {argument.reason}" for argument in audited.lost if argument.name not in ignore]
    if lost:
        raise IncompleteConfig(f"the config of {kind.__name__} loses what it is made with:{''.join(lost)}")


def classes_of(target: str) -> tuple[Generation, list[AuditedClass]]:
    """The classes with a config that a package, a module or a file has, or the one that is named."""
    keras_here("keras")
    kinds = classes(target)
    generation: Generation = max((generation_of(kind) for _, kind in kinds), default="keras")
    keras = keras_here(generation).keras
    return generation, [audited_class(name, kind, keras) for name, kind in kinds]


def audit_all(kinds: Sequence[AuditedClass], generation: Generation, jobs: int) -> Iterator[ClassAudited]:
    """What came of each class, as it comes. A class that ends its process is not audited."""
    memory = int(0.8 * psutil.virtual_memory().available / jobs)  # something is left for others
    left, starts = list(kinds), (generation, kinds, memory)
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


def _start(generation: Generation, kinds: Sequence[AuditedClass], memory: int) -> None:
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    _auditors.append(Auditor(Audit(keras_here(generation)), DIALECTS[generation], made_with=made_with(kinds)))


def _audit(kind: AuditedClass) -> ClassAudited:
    return _auditors[0].audit(kind)
