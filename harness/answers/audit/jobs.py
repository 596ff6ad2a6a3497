"""The classes of a target, one after another or several at once: each job has a warm process of its own."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from clonediff.harness.answers.audit.asking import Auditing
from clonediff.harness.answers.audit.construction import Argument
from clonediff.harness.answers.audit.record import ArgumentAudited, Audited, ClassAudited
from clonediff.harness.answers.jobs import by_jobs
from clonediff.harness.source import DIALECTS
from clonediff.harness.subjects.outcomes import AuditedClass
from clonediff.harness.subjects.releases import open_subject
from clonediff.harness.subjects.subject import Subject
from clonediff.harness.subjects.warm_child import Limits
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
    tell: Callable[[str], None] = lambda where: None,
) -> Iterator[ClassAudited]:
    """What came of each class, as it comes; `of_bases` is filled with what their bases lose.

    `made_with` has the arguments that classes are made with, by name. `tell` is told where the jobs are.
    """

    @contextlib.contextmanager
    def job() -> Iterator[Callable[[AuditedClass], ClassAudited]]:
        with open_subject(subject, limits=limits) as process:

            def audit(kind: AuditedClass) -> ClassAudited:
                auditing = Auditing(
                    lambda question: process.audited(question, limits.trial),
                    DIALECTS[subject.generation],
                    values or {},
                    (made_with or {}).get(kind.name),
                    of_bases=of_bases,
                )
                tell(kind.name)
                return auditing.audit(kind)

            yield audit

    return by_jobs(classes, job, jobs)


def with_bases(audited: Audited, of_bases: OfBases) -> Audited:
    """The audit with what a base that belongs to the target's own package loses of all classes, told once."""
    classes = {each.name: each for each in audited.classes}
    for (base, name), lost in sorted(of_bases.items(), key=lambda item: item[0]):
        if lost is None or base.partition(".")[0] != audited.target.partition(".")[0]:
            continue
        kind = classes.get(base) or ClassAudited(base, "layer")
        others = tuple(each for each in kind.arguments if each.name != name)
        classes[base] = replace(kind, arguments=(*others, lost))
    return replace(audited, classes=tuple(classes.values()))
