"""One class under audit: which constructions are tried, and what the answers say of each argument."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from clonediff.harness.answers.audit.constructions import Arguments, Text, as_python, construction, script_of
from clonediff.harness.answers.audit.record import ArgumentAudited, AuditedClass, ClassAudited
from clonediff.harness.answers.audit.values import bases, is_guessed, tried
from clonediff.harness.inside.audit import Answer, Audit
from clonediff.harness.source.dialect import Dialect
from clonediff.harness.source.script_lines import ScriptLines
from clonediff.strategies.graph import Value
from clonediff.strategies.kinds.arguments import NEEDS
from clonediff.strategies.kinds.kind import Parameter

_LOST_BY_LAYER = "autocast"
"""What the base of all layers loses, which is no fault of a class."""
_SIGNATURE = re.compile(r"required (?:positional|keyword)|nexpected keyword|nrecognized keyword")


@dataclass(frozen=True)
class Auditor:
    """Audits classes. `values` are further ones to try, by the name of an argument.

    `made_with` has the arguments that classes are made with, by their names, where somebody said so.
    """

    ask: Audit
    dialect: Dialect
    values: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    made_with: Mapping[str, Arguments] = field(default_factory=dict)

    def audit(self, kind: AuditedClass) -> ClassAudited:
        """All arguments of a class; none by name, where an object that is made plainly cannot be revived."""
        base, plain = self._base(kind)
        if plain.refused:
            return ClassAudited(kind.name, reason=f"it cannot be made, or has no config: {plain.refused}")
        if plain.lost and _may_be_the_value(plain):
            return ClassAudited(kind.name, reason=f"nobody says how it is made: {plain.lost[0].said}")
        if plain.lost:
            return ClassAudited(kind.name, (self._lost(kind, "", base, plain),))
        return ClassAudited(kind.name, tuple(self._argument(kind, each, base) for each in kind.constructor))

    def _base(self, kind: AuditedClass) -> tuple[Arguments, Answer]:
        """The arguments that the class is made with, the fewest that it takes and that can be revived."""
        tries: list[tuple[Arguments, Answer]] = []
        for base in [self.made_with[kind.name]] if kind.name in self.made_with else bases(kind, self.values):
            answer = self._put(kind, base, base)
            if not answer.refused and not answer.lost:
                return base, answer
            tries.append((base, answer))
        made = [pair for pair in tries if not pair[1].refused]
        return (*made, *tries, ({}, Answer(refused="nobody says what it needs")))[0]

    def _put(self, kind: AuditedClass, base: Arguments, arguments: Arguments) -> Answer:
        """What comes of a construction."""
        return self.ask.answer(*(construction(kind.name, each, self.dialect) for each in (base, arguments)))

    def _argument(self, kind: AuditedClass, parameter: Parameter, base: Arguments) -> ArgumentAudited:
        name, kept, reason = parameter.name, "", "nobody knows another value for it"
        if name == _LOST_BY_LAYER and not kind.name.endswith(".Layer"):
            return ArgumentAudited(name, "cannot tell", reason="Layer loses it")
        # A number of a base that somebody gave says what its argument can be; an object says nothing.
        known = name in self.values or not isinstance(self.made_with.get(kind.name, {}).get(name, Text("")), Text)
        guessed = not known and is_guessed(kind, parameter)
        for arguments, answer in self._tries(kind, parameter, base):
            value = as_python(arguments[name], ScriptLines(self.dialect))
            if guessed and _may_be_the_value(answer):
                reason = f"with {value} it cannot be revived, but that may be no value for it"
            elif answer.lost:
                return self._lost(kind, name, arguments, answer)
            elif answer.refused:
                reason = f"{value}: {answer.refused}"
            elif answer.changes:
                kept = kept or value
            else:
                reason = "nothing that it changes is seen"
        return ArgumentAudited(name, "kept", kept) if kept else ArgumentAudited(name, "cannot tell", reason=reason)

    def _tries(self, kind: AuditedClass, parameter: Parameter, base: Arguments) -> Iterator[tuple[Arguments, Answer]]:
        """The constructions with one argument away from its default; with another where Keras wants that."""
        other, value = NEEDS.get(parameter.name, ("", None))
        if any(each.name == other for each in kind.constructor):
            base = {**base, other: value}
        for value in tried(kind, parameter, base, self.values):
            arguments = {**base, parameter.name: value}
            answer = self._put(kind, base, arguments)
            yield arguments, answer
            if kind.sort == "model" and answer.changes:
                return  # to make one takes its time

    def _lost(self, kind: AuditedClass, name: str, arguments: Arguments, answer: Answer) -> ArgumentAudited:
        value = as_python(arguments[name], ScriptLines(self.dialect)) if name else ""
        script = script_of(construction(kind.name, arguments, self.dialect), answer.lost[0])
        return ArgumentAudited(name, "lost", value, answer.lost[0].said, script)


def _may_be_the_value(answer: Answer) -> bool:
    """Whether it cannot be revived for a reason that may be the value, and not what the config has or leaves out."""
    return any(not lost.path and not _SIGNATURE.search(lost.revived) for lost in answer.lost)
