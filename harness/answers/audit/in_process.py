"""The audit of one class in the caller's own process, for tests of one's own package.

Importing this module imports no Keras.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from types import ModuleType
from typing import Any

import msgspec

from clonediff.harness.answers.audit.one_class import Auditor
from clonediff.harness.answers.audit.record import AuditedClass, ClassAudited
from clonediff.harness.drawing.drawable_kinds import value_of
from clonediff.harness.drawing.remembered_answers import here
from clonediff.harness.inside.audit import Audit


class IncompleteConfig(AssertionError):
    """A config that loses an argument. `audited` has the answer for each argument."""

    def __init__(self, message: str, audited: ClassAudited) -> None:
        super().__init__(message)
        self.audited = audited


def assert_config_is_complete(
    kind: type, *, values: Mapping[str, Iterable[Any]] | None = None, ignore: Collection[str] = ()
) -> None:
    """Raise `IncompleteConfig` where an object of a class, revived from its config, has lost an argument.

    `kind` is a layer, a loss, or another class with `get_config` and `from_config`, of Keras 3 or `tf_keras`. It is
    made with one argument at a time away from its default. `values` has values to try first, by the name of an
    argument; numbers, texts, lists, tuples and dictionaries of them. An argument in `ignore` may be lost.
    """
    from clonediff.harness.inside.audited_classes import audited_class, generation_of_class

    its = here("tf_keras" if generation_of_class(kind) == "tf_keras" else "keras")
    with its.framework.scratch():
        described = msgspec.convert(audited_class(kind, its.framework), AuditedClass)
        audited = Auditor(
            Audit(its.framework, {kind.__name__: kind}),
            its.dialect,
            {name: tuple(value_of(value, name) for value in tried) for name, tried in (values or {}).items()},
        ).audit(msgspec.structs.replace(described, name=kind.__name__))
    if audited.reason:
        raise ValueError(f"{kind.__name__}: {audited.reason}; `values` may name what its arguments can be")
    lost = [argument for argument in audited.lost if argument.name not in ignore]
    if lost:
        lines = [f"\n  {argument.given}: {argument.reason}" for argument in lost]
        raise IncompleteConfig(f"the config of {kind.__name__} loses what it is made with:{''.join(lines)}", audited)


def classes_with_config(module: ModuleType) -> list[type]:
    """The classes that a module has from its own package and that have a config, in the order of their names."""
    package = module.__name__.partition(".")[0]
    found = {
        kind.__name__: kind
        for kind in vars(module).values()
        if isinstance(kind, type)
        and kind.__module__.partition(".")[0] == package
        and hasattr(kind, "get_config")
        and hasattr(kind, "from_config")
    }
    return [found[name] for name in sorted(found)]
