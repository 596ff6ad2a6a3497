"""What the models of `keras_hub` are made with, so that they are small: as `clonediff real` makes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from clonediff.harness.answers.audit.construction import Argument
from clonediff.harness.subjects.outcomes import AuditedClass
from clonediff.harness.subjects.process import SubjectProcess


def made_with(
    target: str, classes: Sequence[AuditedClass], process: SubjectProcess
) -> Mapping[str, Mapping[str, Argument]]:
    """The arguments of each class of which somebody said so, by its name."""
    return {}
