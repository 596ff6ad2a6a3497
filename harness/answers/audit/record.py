"""What came of an audit: an answer for each argument of each class."""

from __future__ import annotations

from typing import Literal

import msgspec

from clonediff.harness.subjects.outcomes import Lost, WayOfCall

Answer = Literal["lost", "kept", "cannot tell"]

WORST_FIRST = ("computes", "crashes", "weights", "holds")
SENTENCES = {
    "computes": "computes something else",
    "crashes": "crashes when it is revived",
    "weights": "cannot take the weights",
    "holds": "an attribute differs",
}


class ArgumentAudited(msgspec.Struct, frozen=True, omit_defaults=True):
    """An argument, or with an empty name the class as it is without any.

    `tried` is the value that shows it, as Python; `lost` what the revived object does not have. `reason` says why
    there is no answer. `base` is the class whose constructor takes the argument, where that is another; `proposal` how
    a layer was called. `script` is plain Keras; `proven` says whether it failed where it was run alone.
    """

    name: str
    answer: Answer
    tried: str = ""
    reason: str = ""
    lost: tuple[Lost, ...] = ()
    base: str = ""
    proposal: WayOfCall | None = None
    script: str = ""
    proven: bool = False

    @property
    def how(self) -> str:
        """How it is lost at the worst, in words."""
        return SENTENCES[self.worst.how] if self.lost else self.reason

    @property
    def worst(self) -> Lost:
        """The worst that is lost, where it shows most plainly."""
        return min(self.lost, key=lambda each: (WORST_FIRST.index(each.how), plainness(each)))


class ClassAudited(msgspec.Struct, frozen=True, omit_defaults=True):
    """A class with its arguments; `reason` says why it was not audited."""

    name: str
    sort: str
    arguments: tuple[ArgumentAudited, ...] = ()
    reason: str = ""
    seconds: float = 0.0

    @property
    def title(self) -> str:
        """Its name, without the folders of a file."""
        return self.name.rpartition("/")[2]

    @property
    def lost(self) -> tuple[ArgumentAudited, ...]:
        return tuple(each for each in self.arguments if each.answer == "lost")


class Audited(msgspec.Struct, frozen=True):
    """A target with its classes."""

    target: str
    subject: str
    versions: dict[str, str]
    classes: tuple[ClassAudited, ...] = ()
    seconds: float = 0.0
    interrupted: bool = False

    def lost(self) -> list[tuple[ClassAudited, ArgumentAudited]]:
        """What is lost, the worst first."""
        found = [(kind, each) for kind in self.classes for each in kind.lost]
        found.sort(key=lambda pair: (WORST_FIRST.index(pair[1].worst.how), full_name(*pair)))
        return found

    def count(self, answer: Answer) -> int:
        return sum(each.answer == answer for kind in self.classes for each in kind.arguments)


def plainness(lost: Lost) -> tuple[int, int]:
    """The smaller, the plainer is the path to what is lost."""
    return lost.path.count("[") + 2 * lost.path.count("._"), len(lost.path)


def full_name(kind: ClassAudited, argument: ArgumentAudited) -> str:
    """The name of an argument, with its class."""
    return f"{kind.title}.{argument.name}" if argument.name else kind.title
