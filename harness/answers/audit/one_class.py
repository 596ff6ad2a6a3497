"""One class under audit: which constructions are tried, how they are typed, and an answer for each argument."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import msgspec

from clonediff.harness.answers.audit.values import Arguments, alternatives, bases
from clonediff.harness.observation import AuditedClass, Construction, Parameter
from clonediff.harness.subjects.outcomes import Lost
from clonediff.strategies.build import loading_lines, snake_case
from clonediff.strategies.dialects import Dialect
from clonediff.strategies.values import NEEDS

_LOST_BY_LAYER = "autocast"  # the base of all layers loses it, which is no fault of a class
_SIGNATURE = re.compile(r"required (?:positional|keyword)|nexpected keyword|nrecognized keyword")


class ArgumentAudited(msgspec.Struct, frozen=True, omit_defaults=True):
    """An argument, or with an empty name the class as it is without any.

    `value` is Python, the value that shows it, `reason` what is lost.
    """

    name: str
    answer: Literal["lost", "kept", "cannot tell"]
    value: str = ""
    reason: str = ""

    @property
    def given(self) -> str:
        """The argument with its value."""
        return f"{self.name}={self.value}" if self.name else "whatever it is given"


class ClassAudited(msgspec.Struct, frozen=True, omit_defaults=True):
    """A class with its arguments; `reason` says why it was not audited."""

    name: str
    arguments: tuple[ArgumentAudited, ...] = ()
    reason: str = ""

    @property
    def lost(self) -> tuple[ArgumentAudited, ...]:
        """The arguments that its config loses."""
        return tuple(argument for argument in self.arguments if argument.answer == "lost")


class _LostError(Exception):
    """The process was lost over a construction."""


@dataclass(frozen=True)
class Auditor:
    """Audits classes. `values` are further ones to try, by the name of an argument."""

    ask: Callable[[str, str], Construction | Lost]
    dialect: Dialect
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def audit(self, kind: AuditedClass) -> ClassAudited:
        """All arguments of a class; none by name, where an object that is made plainly cannot be revived."""
        try:
            base, plain = self._base(kind)
            if plain.refused:
                return ClassAudited(kind.name, reason=f"it cannot be made, or has no config: {plain.refused}")
            if plain.lost and _may_be_the_value(plain):
                reason = f"no arguments are known with which it can be made: {plain.lost[0].message}"
                return ClassAudited(kind.name, reason=reason)
            if plain.lost:
                return ClassAudited(kind.name, (ArgumentAudited("", "lost", reason=plain.lost[0].message),))
            audited = tuple(self._argument(kind, parameter, base) for parameter in kind.constructor)
            return ClassAudited(kind.name, audited)
        except _LostError as error:
            return ClassAudited(kind.name, reason=f"it ends or holds up its process: {error}")

    def _base(self, kind: AuditedClass) -> tuple[Arguments, Construction]:
        """The arguments that the class is made with, the fewest that it takes and that can be revived."""
        tries: list[tuple[Arguments, Construction]] = []
        for base in bases(kind, self.values):
            answer = self._answer(kind, base, base)
            if not answer.refused and not answer.lost:
                return base, answer
            tries.append((base, answer))
        possible = [pair for pair in tries if not pair[1].refused]
        return (*possible, *tries, ({}, Construction(refused="no arguments are known that it takes")))[0]

    def _answer(self, kind: AuditedClass, base: Arguments, arguments: Arguments) -> Construction:
        answer = self.ask(self._construction(kind.name, base), self._construction(kind.name, arguments))
        if isinstance(answer, Lost):
            raise _LostError(answer.line)
        return answer

    def _argument(self, kind: AuditedClass, parameter: Parameter, base: Arguments) -> ArgumentAudited:
        name, example = parameter.name, ""
        for value, answer in self._tries(kind, parameter, base):
            if answer.lost:
                return ArgumentAudited(name, "lost", value, answer.lost[0].message)
            if answer.changes:
                example = example or value
        return ArgumentAudited(name, "kept" if example else "cannot tell", example)

    def _tries(self, kind: AuditedClass, parameter: Parameter, base: Arguments) -> Iterator[tuple[str, Construction]]:
        """What comes of values away from the default, each as Python; with another argument where Keras wants that."""
        companion, value = NEEDS.get(parameter.name, ("", ""))
        if any(argument.name == companion for argument in kind.constructor):
            base = {**base, companion: value}
        of_layer = parameter.name == _LOST_BY_LAYER and not kind.name.endswith(".Layer")
        for value in () if of_layer else alternatives(kind, parameter, base, self.values):
            answer = self._answer(kind, base, {**base, parameter.name: value})
            yield value, answer
            if kind.is_model and answer.changes:
                return  # to make one takes its time

    def _construction(self, name: str, arguments: Arguments) -> str:
        """The script that makes an object of a class of a package, a module or a file, as `example`."""
        written = ", ".join(f"{argument}={text}" for argument, text in arguments.items())
        above = ""
        path, colon, word = name.rpartition(":")
        if colon:
            above += loading_lines(snake_case(Path(path).stem), os.path.abspath(path))
            name = f"{snake_case(Path(path).stem)}.{word}"
        elif name.startswith(("keras.", "tf_keras.")):
            name = f"keras.{name.partition('.')[2]}"
        elif "." in name:  # a class of the caller's process has no module
            above += f"import {name.rpartition('.')[0]}\n"
        text = self.dialect.spell(f"{above}example = {name}({written})\n")
        return self.dialect.head(f"{text}keras.") + text


def _may_be_the_value(answer: Construction) -> bool:
    """Whether it cannot be revived for a reason that may be the value, and not what the config has or leaves out."""
    return any(not lost.path and not _SIGNATURE.search(lost.revived) for lost in answer.lost)
