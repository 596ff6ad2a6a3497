"""The classes of a target, one after another or several at once: each job has a warm process of its own."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from clonediff.harness.answers.audit.asking import Auditing
from clonediff.harness.answers.audit.construction import Argument
from clonediff.harness.answers.audit.record import ArgumentAudited, Audited, ClassAudited
from clonediff.harness.answers.audit.scripts import prove
from clonediff.harness.source import DIALECTS
from clonediff.harness.subjects.outcomes import AuditedClass
from clonediff.harness.subjects.process import Limits, SubjectProcess
from clonediff.harness.subjects.releases import open_subject
from clonediff.harness.subjects.subject import Subject
from clonediff.strategies.graph import Value

Values = Mapping[str, tuple[Value, ...]]
OfBases = dict[tuple[str, str], ArgumentAudited | None]


def audit_all(
    classes: Sequence[AuditedClass],
    subject: Subject,
    limits: Limits,
    *,
    values: Values | None = None,
    made_with: Mapping[str, Mapping[str, Argument]] | None = None,
    of_bases: OfBases,
    jobs: int = 1,
    scripts: bool = True,
    tell: Callable[[str], None] = lambda where: None,
) -> Iterator[ClassAudited]:
    """What came of each class, as it comes; `of_bases` is filled with what their bases lose.

    `made_with` has the arguments that classes are made with, by name. `tell` is told where the jobs are.
    """
    todo: queue.SimpleQueue[AuditedClass] = queue.SimpleQueue()
    for each in classes:
        todo.put(each)
    done: queue.SimpleQueue[ClassAudited | BaseException] = queue.SimpleQueue()
    stopped = threading.Event()

    def work() -> None:
        try:
            with open_subject(subject, limits=limits) as process:
                while not stopped.is_set():
                    kind = todo.get_nowait()
                    base = (made_with or {}).get(kind.name)
                    auditing = Auditing(
                        lambda question: process.audited(question, limits.trial),
                        DIALECTS[subject.dialect],
                        values or {},
                        base,
                        of_bases=of_bases,
                    )
                    tell(kind.name)
                    audited = auditing.audit(kind)
                    done.put(with_scripts(audited, process, tell) if scripts else audited)
        except queue.Empty:
            return
        except BaseException as error:  # a fault of ours: it is raised where results are read
            done.put(error)

    for _ in range(min(jobs, len(classes))):
        # A daemon: whoever interrupts it waits for nobody, and a process ends with the thread that started it.
        threading.Thread(target=work, daemon=True).start()
    try:
        for _ in classes:
            came = done.get()
            if isinstance(came, BaseException):
                raise came
            yield came
    finally:
        stopped.set()


def with_scripts(audited: ClassAudited, process: SubjectProcess, tell: Callable[[str], None]) -> ClassAudited:
    """The class with a script for each argument that is lost."""
    found = []
    for each in audited.arguments:
        if each.answer == "lost":
            tell(f"{audited.name}: a script that shows {each.name or 'it'}")
            each = prove(audited, each, process.subject, process.place)
        found.append(each)
    return replace(audited, arguments=tuple(found))


def with_bases(audited: Audited, of_bases: OfBases, process: SubjectProcess, *, scripts: bool = True) -> Audited:
    """The audit with what a base that belongs to the target's own package loses of all classes, told once."""
    classes = {each.name: each for each in audited.classes}
    for (base, name), lost in sorted(of_bases.items(), key=lambda item: item[0]):
        if lost is None or base.partition(".")[0] != audited.target.partition(".")[0]:
            continue
        kind = classes.get(base) or ClassAudited(base, "layer")
        found = with_scripts(replace(kind, arguments=(lost,)), process, lambda where: None) if scripts else None
        told = lost if found is None else found.arguments[0]
        others = tuple(each for each in kind.arguments if each.name != name)
        classes[base] = replace(kind, arguments=(*others, told))
    return replace(audited, classes=tuple(classes.values()))
