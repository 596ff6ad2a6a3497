"""What a check is, and an aspect: one thing that it can find different, with all that is said of it anywhere.

Each check declares its aspects beside its code: how severe each is, the sentence for it, what it changes and shows
(for `roots`), whether any layer can have it (for fingerprints), and how a script of plain Keras compares it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import partial
from typing import Any, NamedTuple

from clonediff.harness.trials.checks.links import Link, Reach, Stage, Thing, Turn
from clonediff.harness.trials.checks.pairing import Pair
from clonediff.harness.trials.checks.skeletons import Unlike
from clonediff.reports.records import Difference, Place, Raised, Severity


class Comparison(NamedTuple):
    """How a script shows a difference; `sure` says that it fails wherever there is this difference.

    "equal": the `expression`, in which "{}" stands for a model, is the same for both models.
    "shared": the clone has none of the objects that the expression lists for the model.
    "assert": the expression is true. "kept": it is, once the model has weights that no initializer gives.
    "asked": it is, of the layers that the clone function was `asked` for.
    "weights": the expression has arrays that stay the same.
    "run": both models give the same.
    "warns": cloning does not warn of it.
    "raises": cloning raises no exception. "line": it does, so that this line of Python is not reached.
    """

    expression: str = ""
    sure: bool = True
    how: str = "equal"


NOT_COMPARED = Comparison(sure=False)
RUN = Comparison(how="run")
RUN_ON_NUMBERS = Comparison(how="run", sure=False)
"""It takes the very numbers of the trial to see it."""

Shown = Comparison | Callable[[Difference, str], Comparison]
"""The comparison, or a function that gives it for a difference and a dialect of Keras."""


@dataclass(frozen=True)
class Aspect:
    """One thing that a check can find different.

    `name`: "*" in it stands for what differs from case to case, such as the setting in "config.*".
    `path`: given where the name alone does not say what differs.
    `sentence`: it has placeholders, which `titles` fills; `named` is that for an argument that Keras has a name for.
    `reach`: it follows from the severity unless it is given. `quiet`: no number that a model computes can follow.
    `changes`, `shows`: for what is told of models that have not run. Each shows `OBJECTS` as well.
    `stage`: that of the check unless it is given.
    `any_layer`: the machinery of cloning loses it, so that a fingerprint names no kind of layer.
    `same_as`: for a kind of layer ("": any), the aspect and the kind that a fingerprint has in their place, since one
    line of Keras loses both.
    `shown`: how a script compares it.
    """

    name: str
    severity: Severity
    sentence: str
    path: str = ""
    named: str = ""
    reach: Reach | None = None
    quiet: bool = False
    changes: tuple[Thing, ...] = ()
    shows: tuple[Thing, ...] = ()
    stage: Stage | None = None
    turn: Turn = Turn.USUAL
    any_layer: bool = False
    same_as: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    shown: Shown = NOT_COMPARED

    @property
    def reaches(self) -> Reach:
        if self.reach is not None:
            return self.reach
        return {Severity.NAME: Reach.LABEL, Severity.TRAINS: Reach.TRAINING}.get(self.severity, Reach.BEHAVIOUR)

    def comparison(self, difference: Difference, dialect: str) -> Comparison:
        return self.shown if isinstance(self.shown, Comparison) else self.shown(difference, dialect)


def _costing(severity: Severity, *aspects: tuple[str, str], **fields: Any) -> tuple[Aspect, ...]:
    return tuple(Aspect(name, severity, sentence, **fields) for name, sentence in aspects)


crashes, computes, trains, loses, renames = (partial(_costing, severity) for severity in Severity)
"""Aspects by what they cost: each its name and its sentence, then the fields that they have in common."""


def nested(
    costing: Callable[..., tuple[Aspect, ...]], part: str, whole: str, item: str, **fields: Any
) -> Iterator[Aspect]:
    """What can differ in a part that is nested: `whole` is what a sentence calls all of it, `item` one thing in it."""
    yield from costing(
        (f"{part} missing", f"{item} is lost{{inside}}"),
        (f"{part} extra", f"there is one more of the {whole}{{inside}}"),
        (f"{part} type", f"{{form}} in the {whole} is {{found_form}}{{inside}}"),
        (f"{part} tensor", f"{item} is another tensor{{inside}}"),
        (f"{part} value", f"{item} has another value{{inside}}"),
        **fields,
    )
    yield from costing((f"{part} order", f"the {whole} come in another order{{inside}}"), any_layer=True, **fields)


class Aspects:
    """The aspects of one check; of several with one name, that with the path of a difference comes first."""

    def __init__(self, check: str, *aspects: Aspect | Iterable[Aspect], shown: Shown = NOT_COMPARED) -> None:
        """Take the aspects; `shown` is how a script compares those that do not say it themselves."""
        self.check = check
        every = (one for each in aspects for one in ((each,) if isinstance(each, Aspect) else each))
        self._all = tuple(replace(one, shown=shown) if one.shown is NOT_COMPARED else one for one in every)
        self._found: dict[str, tuple[Aspect, ...]] = {}

    def __iter__(self) -> Iterator[Aspect]:
        return iter(self._all)

    def of(self, name: str, path: str = "") -> Aspect | None:
        """The aspect of that name, as a difference at that path has it; None where the check has none."""
        if name not in self._found:
            exact = [each for each in self._all if each.name == name]
            self._found[name] = tuple(exact or (each for each in self._all if fnmatchcase(name, each.name)))
        return next((each for each in self._found[name] if each.path in ("", path)), None)

    def not_compared(self) -> Aspects:
        """The same aspects for a check of other models: no script compares them, and their stage is that check's."""
        return Aspects(self.check, *(replace(each, shown=NOT_COMPARED, stage=None) for each in self))

    def differs(
        self,
        name: str,
        path: str,
        expected: str,
        found: str,
        first: Place | None,
        *,
        severity: Severity | None = None,
        raised: Raised | None = None,
        digests: tuple[str, str] | None = None,
    ) -> Difference:
        """A difference in the aspect of that name, as severe as that is unless the place makes it otherwise."""
        aspect = self.of(name, path)
        if aspect is None:
            raise KeyError(f"the check {self.check} declares no aspect {name!r}")
        severity = aspect.severity if severity is None else severity
        return Difference(self.check, path, name, expected, found, severity, first, raised, digests)

    def differs_in(
        self, part: str, path: str, leaf: Unlike, first: Place | None, *, severity: Severity | None = None
    ) -> Difference:
        """The same of a leaf of the part that is at that path."""
        name, path = f"{part} {leaf.aspect}".lstrip(), f"{path}{leaf.path}"
        return self.differs(name, path, leaf.expected, leaf.found, first, severity=severity, digests=leaf.digests)

    def differs_in_value(self, name: str, path: str, expected: str, found: str, first: Place | None) -> Difference:
        return self.differs(name, path, expected, found, first, digests=(expected, found))


@dataclass(frozen=True)
class Check:
    """A property of a faithful clone: what finds the differences, and what it can say of them.

    One that is `costly` sees nothing of a trial without its costly part; `links` is what its differences lead to by no
    general rule; `of_a_clone` says that there is nothing to see where none was made.
    """

    aspects: Aspects
    stage: Stage
    differences: Callable[[Pair], list[Difference]]
    costly: bool = False
    links: tuple[Link, ...] = ()
    of_a_clone: bool = True

    @property
    def name(self) -> str:
        return self.aspects.check

    @property
    def severity(self) -> Severity:
        """The worst that breaking it can do to a user."""
        return min(each.severity for each in self.aspects)
