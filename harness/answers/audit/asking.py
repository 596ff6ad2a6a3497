"""One class under audit: which constructions are tried, and what the answers say of each argument."""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from clonediff.harness.answers.audit.construction import Argument, Construction, OfBase, Text, written
from clonediff.harness.answers.audit.record import ArgumentAudited, ClassAudited
from clonediff.harness.answers.audit.values import bases, is_guessed, named_in, pairs, proposals, tried
from clonediff.harness.source.dialect import Dialect
from clonediff.harness.subjects.outcomes import AuditedClass, AuditedParameter, ConstructionAudited
from clonediff.strategies.graph import Value
from clonediff.strategies.kinds.arguments import NEEDS

Ask = Callable[[dict[str, Any]], ConstructionAudited]
_MOST_PAIRS = 12
_SIGNATURE = re.compile(r"required (?:positional|keyword)|nexpected keyword|nrecognized keyword")
NO_EFFECT = "nothing that it changes is seen"


@dataclass(frozen=True)
class Auditing:
    """Who is asked, in which dialect; `values` are further ones to try, by the name of an argument.

    `base` has what a class is made with, for classes of which somebody said so.
    """

    ask: Ask
    dialect: Dialect
    values: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    base: Mapping[str, Argument] | None = None
    names: Mapping[str, Any] | None = None
    of_bases: dict[tuple[str, str], ArgumentAudited | None] = field(default_factory=dict)
    """What a base loses by itself, by the base and the argument."""

    def audit(self, audited: AuditedClass) -> ClassAudited:
        """All arguments of a class."""
        began = time.monotonic()
        base, plain = self._base(audited)
        found: tuple[ArgumentAudited, ...] = ()
        reason = ""
        if base is None:
            reason = f"it cannot be made: {plain.refused}"
        elif plain.unsaid:
            reason = f"it has no config: {plain.unsaid}"
        else:
            found = tuple(_InClass(self, audited, base, plain).all())
        return ClassAudited(audited.name, audited.sort, found, reason, round(time.monotonic() - began, 3))

    def _base(self, audited: AuditedClass) -> tuple[Mapping[str, Argument] | None, ConstructionAudited]:
        """The arguments that the class is made with, and what came of it: one that can be called, if there is one."""
        if self.base is not None:
            return self.base, self.put(audited, self.base, self.base)
        refused, found = ConstructionAudited(refused="nobody says what it needs"), None
        for number, base in enumerate(bases(audited, self.values)):
            answer = self.put(audited, base, base)
            if not answer.refused and not answer.uncalled:
                return self._without_loss(audited, base, answer)
            if not answer.refused and found is None:
                found = base, answer
            refused = answer if number == 0 else refused
        return found or (None, refused)

    def _without_loss(
        self, audited: AuditedClass, base: Mapping[str, Argument], answer: ConstructionAudited
    ) -> tuple[Mapping[str, Argument], ConstructionAudited]:
        """Another value of an argument that need not be given, where the class loses nothing with that."""
        for parameter in audited.constructor if answer.lost else ():
            if parameter.name in base and not parameter.required:
                for value in (None, *tried(audited, parameter, base, self.values)):
                    other = {**base, parameter.name: value}
                    answered = self.put(audited, other, other)
                    if not (answered.refused or answered.uncalled or answered.lost):
                        return other, answered
        return base, answer

    def put(
        self, audited: AuditedClass, base: Mapping[str, Argument], arguments: Mapping[str, Argument]
    ) -> ConstructionAudited:
        """What comes of a construction."""
        texts = [Construction(audited.name, each).text(self.dialect) for each in (base, arguments)]
        question = {"sort": audited.sort, "base": texts[0], "text": texts[1], "proposals": proposals(audited)}
        return self.ask({**question, "names": self.names} if self.names else question)


class _InClass:
    """The arguments of one class that can be made with those of the base."""

    def __init__(
        self, auditing: Auditing, audited: AuditedClass, base: Mapping[str, Argument], plain: ConstructionAudited
    ) -> None:
        self._auditing = auditing
        self._audited = audited
        self._base = base
        self._plain = plain
        needed = [each for each in audited.constructor if each.name in base and auditing.base is None]
        self._guessed = any(is_guessed(audited, each) and each.name not in auditing.values for each in needed)

    def all(self) -> list[ArgumentAudited]:
        """Each argument; before them the class without any, where that loses something already."""
        plain, found = self._plain, list[ArgumentAudited]()
        crashes = any(each.how == "crashes" for each in plain.lost)
        if plain.lost and (plain.uncalled or (self._guessed and _may_be_the_value(plain))):
            return [ArgumentAudited("", "cannot tell", reason=f"nobody says how it is made: {plain.lost[0].found}")]
        if plain.lost:
            found += self._of_base(crashes)
        if not crashes:
            found += [self._of(parameter) for parameter in self._audited.constructor]
        found = list({each.name: each for each in reversed(found)}.values())[::-1]
        bases = {each.name: each for each in self._audited.constructor if each.base and ".src." not in each.base}
        return [
            self._unless_of_base(each, bases[each.name]) if each.answer == "lost" and each.name in bases else each
            for each in found
        ]

    def _of_base(self, crashes: bool) -> Iterator[ArgumentAudited]:
        """What the class loses as it is made plainly: the arguments that it is made with and does not write."""
        config, needed = self._plain.config, {each.name for each in self._audited.constructor if each.required}
        unsaid = [name for name in self._base if config is not None and name not in config]
        if crashes:
            unsaid = [name for name in unsaid if name in needed]
        for name in unsaid:
            yield self._lost(name, self._base, self._plain)
        if not unsaid and any(isinstance(each, Text) for each in self._base.values()):
            yield ArgumentAudited("", "cannot tell", reason="something is lost, maybe by what it is made of")
        elif not unsaid:
            yield self._lost("", self._base, self._plain)

    def _of(self, parameter: AuditedParameter) -> ArgumentAudited:
        kept, reason, silent = "", "", False
        # A number of a base that somebody gave says what its argument can be; an object says nothing.
        numbers = (name for name, each in (self._auditing.base or {}).items() if not isinstance(each, Text))
        known = (*self._auditing.values, *numbers)
        for arguments, answer in self._tries(parameter):
            value = written(arguments[parameter.name], self._auditing.dialect)
            guessed = self._guessed or (is_guessed(self._audited, parameter) and parameter.name not in known)
            if guessed and _may_be_the_value(answer):
                reason = reason or f"with {value} it cannot be revived, but that may be no value for it"
            elif answer.lost and parameter.hidden and all(each.how == "holds" for each in answer.lost):
                reason = f"{_short(parameter.base)} takes it, and nothing that it changes is computed"
            elif answer.lost:
                return self._lost(parameter.name, arguments, answer, parameter.base)
            elif answer.refused or answer.unsaid:
                reason = reason or f"{value}: {answer.refused or answer.unsaid}"
            elif answer.seen.facts or answer.seen.runs:
                kept = kept or value
            else:
                silent = True
        if kept:
            return ArgumentAudited(parameter.name, "kept", kept, base=parameter.base)
        reason = NO_EFFECT if silent else reason or "nobody knows another value for it"
        return ArgumentAudited(parameter.name, "cannot tell", reason=reason, base=parameter.base)

    def _tries(self, parameter: AuditedParameter) -> Iterator[tuple[Mapping[str, Argument], ConstructionAudited]]:
        """The constructions with one argument away from its default; with another where Keras wants that."""
        auditing, audited = self._auditing, self._audited
        takes = {each.name for each in audited.constructor}
        needs = [NEEDS[parameter.name]] if parameter.name in NEEDS else []
        base = {**self._base, **{name: value for name, value in needs if name in takes}}
        refusals: list[tuple[Value, str]] = []
        accepted = False
        values = list(tried(audited, parameter, base, auditing.values))
        for value in values:  # it grows where Keras says what it takes
            arguments = {**base, parameter.name: value}
            answer = auditing.put(audited, base, arguments)
            yield arguments, answer
            if answer.refused:
                if not refusals and isinstance(value, str | int):
                    words = named_in(answer.refused, base.get(parameter.name, parameter.default))
                    values += [each for each in words if each not in values]
                refusals.append((value, answer.refused))
            accepted = accepted or not answer.refused
            if audited.sort == "model" and (answer.seen.facts or answer.seen.runs):
                return  # to make one takes its time
        beside = (
            (value, more) for value, why in refusals for more in pairs(audited, parameter, why, base, auditing.values)
        )
        for value, more in itertools.islice(() if accepted else beside, _MOST_PAIRS):
            other = {**base, **more}
            arguments = {**other, parameter.name: value}
            answer = auditing.put(audited, other, arguments)
            if answer.refused:
                answer = _of_one(parameter.name, tuple(more), auditing.put(audited, base, arguments))
            if not answer.refused:
                yield arguments, answer
                return

    def _unless_of_base(self, argument: ArgumentAudited, parameter: AuditedParameter) -> ArgumentAudited:
        """What Keras' own base of all layers loses of each class is no fault of the class."""
        key = parameter.base, argument.name
        known = self._auditing.of_bases
        if key not in known:
            dialect = self._auditing.dialect
            made = OfBase(parameter.base, {argument.name: Text(argument.tried)}).text(dialect)
            question = {"sort": self._audited.sort, "base": OfBase(parameter.base, {}).text(dialect), "text": made}
            lost = self._auditing.ask({**question, "proposals": []}).lost
            found = ArgumentAudited(argument.name, "lost", argument.tried, lost=lost, script=made)
            known[key] = found if lost else None
        if known[key] is None:
            return argument
        reason = f"{_short(parameter.base)} loses it"
        return ArgumentAudited(argument.name, "cannot tell", reason=reason, base=parameter.base)

    def _lost(
        self, name: str, arguments: Mapping[str, Argument], answer: ConstructionAudited, base: str = ""
    ) -> ArgumentAudited:
        dialect = self._auditing.dialect
        value = written(arguments[name], dialect) if name else ""
        text = Construction(self._audited.name, arguments).text(dialect)
        return ArgumentAudited(name, "lost", value, lost=answer.lost, base=base, proposal=answer.proposal, script=text)


def _may_be_the_value(answer: ConstructionAudited) -> bool:
    """Whether it cannot be revived for a reason that may be the value, and not what the config has or leaves out."""
    return any(each.how == "crashes" and not _SIGNATURE.search(each.found) for each in answer.lost)


def _of_one(name: str, others: tuple[str, ...], answer: ConstructionAudited) -> ConstructionAudited:
    """The answer where others are away from their defaults as well: with what is lost of this argument alone."""
    said = name in (answer.config or ())
    lost = [
        each
        for each in answer.lost
        if not (said or any(re.search(rf"\b{other}\b", each.path) for other in others)) or name in each.path
    ]
    return replace(answer, lost=tuple(lost))


def _short(path: str) -> str:
    return path.rpartition(".")[2]
