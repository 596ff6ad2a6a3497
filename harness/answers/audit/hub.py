"""What the models of `keras_hub` are made with, so that they are small: as `clonediff real` makes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from clonediff.harness.answers.audit.construction import Argument, Text
from clonediff.harness.answers.real_models.recipes import (
    HUB_MODULE,
    Called,
    UnknownArgumentError,
    further_imports,
    small,
    written,
)
from clonediff.harness.subjects.outcomes import AuditedClass
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.trials.drawable_kinds import value_of

MadeWith = Mapping[str, Mapping[str, Argument]]


def made_with(target: str, classes: Sequence[AuditedClass], process: SubjectProcess) -> MadeWith:
    """The arguments of each class of which somebody said so, by its name."""
    if target.partition(".")[0] != HUB_MODULE.partition(".")[0]:
        return {}
    known = {each.name: each for each in process.model_classes(HUB_MODULE)}
    found = {}
    for audited in classes:
        own = audited.name.rpartition(".")[2]
        if audited.sort == "model" and own in known and known[own].needs:
            try:
                call = small(own, known)
            except UnknownArgumentError:
                continue
            found[audited.name] = {name: _argument(value, name) for name, value in call.arguments.items()}
    return found


def _argument(value: object, name: str) -> Argument:
    if isinstance(value, Called):
        return Text(written(value), (f"import {HUB_MODULE.partition('.')[0]}", *further_imports(value)))
    return value_of(value, name)
