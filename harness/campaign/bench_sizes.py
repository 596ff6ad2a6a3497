"""What a trial costs over the size of its model: more layers, more models in one another, more calls of one layer.

Owns which models are timed, which of a trial's seconds count as what, and how fast each of them grows. Each subject's
child is started, and has built a first model, before anything is timed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic, perf_counter

import msgspec

from clonediff.harness.source import DIALECTS
from clonediff.harness.subjects.case import COSTLY, Case
from clonediff.harness.subjects.observation import Answer
from clonediff.harness.subjects.outcomes import SubjectError
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.subjects.warm_child import Limits
from clonediff.harness.trials.checks import CHECKS, compare
from clonediff.harness.trials.triage import causes
from clonediff.reports.records import UPSTREAM_AND_FIXED

BUILDING = "building"
CHAIN = """\
import sys

{0}

sys.setrecursionlimit(20000)  # Keras goes through a graph by calls within calls, one for each layer in a row
x = inputs = keras.Input(shape=(4,))
for _ in range({1}):
    x = keras.layers.Dense(4)(x)
model = keras.Model(inputs, x)
"""
NEST = """\
{0}


def nested(depth):
    inputs = keras.Input(shape=(4,))
    x = keras.layers.Dense(4)(inputs)
    return keras.Model(inputs, nested(depth - 1)(x) if depth else x)


model = nested({1})
"""
SHARED = """\
{0}

x = inputs = keras.Input(shape=(4,))
dense = keras.layers.Dense(4)
for _ in range({1}):
    x = dense(x)
model = keras.Model(inputs, x)
"""

_NOISE = 0.002
"""Seconds that say nothing of how something grows."""
_FASTER = 0.2
"""By so much more than building's an exponent has to be before it is named: the larger models are few."""
PATIENT = Limits(trial=3600, growth=math.inf, cloning=0)
"""What a process is held to that times large models."""


@dataclass(frozen=True, slots=True)
class Family:
    """Models of one form, by a size: `source` has it in its second place, and `what` says what it counts."""

    name: str
    what: str
    source: str
    sizes: tuple[int, ...]


FAMILIES = (
    Family("layers", "layers in a row", CHAIN, (5, 20, 50, 100, 200, 500, 1000, 2000)),
    Family("nesting", "models in one another", NEST, (1, 2, 5, 10, 20, 40)),
    Family("sharing", "calls of one layer", SHARED, (5, 20, 50, 100, 200, 500)),
)


class Timed(msgspec.Struct, frozen=True):
    """A trial of one size: the seconds of each of its parts."""

    size: int
    seconds: dict[str, float]


class Grown(msgspec.Struct, frozen=True):
    """What the models of a family cost. `exponents` has, by part, the e of seconds that grow as size to the e.

    That is over the larger half of the sizes; a part that takes no time to speak of has none.
    """

    family: str
    what: str
    timed: tuple[Timed, ...]
    exponents: dict[str, float]

    def faster(self) -> list[str]:
        """The parts that grow faster than building does."""
        least = self.exponents.get(BUILDING, 1.0) + _FASTER
        return [part for part, exponent in self.exponents.items() if exponent > least]


class SizeSpeed(msgspec.Struct, frozen=True):
    """The figures of a subject."""

    subject: str
    keras: str
    families: tuple[Grown, ...]


def size_speed(
    process: SubjectProcess, most: int | None = None, tell: Callable[[str, float], None] = lambda at, left: None
) -> SizeSpeed:
    """Time every family up to the size of `most`. `tell` is told what is timed, and about how many seconds are left."""
    plan = [(family, size) for family in FAMILIES for size in family.sizes if most is None or size <= most]
    cost = {(family.name, size): _guess(family, size) for family, size in plan}
    found: dict[str, list[Timed]] = {family.name: [] for family in FAMILIES}
    _timed(process, FAMILIES[0], 2)
    done, began = 0.0, monotonic()
    for family, size in plan:
        rate = (monotonic() - began) / done if done else 0.0
        tell(f"{size} {family.what}", (sum(cost.values()) - done) * rate)
        found[family.name].append(Timed(size, _timed(process, family, size)))
        done += cost[family.name, size]
    grown = (
        Grown(family.name, family.what, tuple(found[family.name]), exponents(found[family.name])) for family in FAMILIES
    )
    return SizeSpeed(str(process.subject), process.ready.keras, tuple(each for each in grown if each.timed))


def _guess(family: Family, size: int) -> float:
    """What a size takes beside others: what is nested is called again with each model around it."""
    return size * size / 2 if family.name == "nesting" else size


def _timed(process: SubjectProcess, family: Family, size: int) -> dict[str, float]:
    dialect = DIALECTS[process.subject.dialect]
    source = family.source.format(dialect.imports["keras"], size)
    case = Case(source, ({"shape": [4], "dtype": "float32"},))
    answer = process.trial(case, cloners=UPSTREAM_AND_FIXED, checks=COSTLY)
    if not isinstance(answer, Answer) or answer.original is None:
        raise SubjectError(f"{size} {family.what}: {process.subject} gave no answer: {answer}")
    checks = {f"check {name}": seconds for name, seconds in of_checks(answer).items()}
    differing = [compare(answer.original, clone) for clone in answer.clones.values()]
    began = perf_counter()
    for each in differing:
        causes(answer.original, each)
    return {**_in_the_child(answer), **checks, "causes": perf_counter() - began}


def _in_the_child(answer: Answer) -> dict[str, float]:
    """Where the child's seconds went, each once."""
    parts, keras = answer.parts, answer.keras
    everything = sum(keras.values()) + sum(answer.ours.values())
    found = {BUILDING: keras.get("build", 0.0)}
    for name in UPSTREAM_AND_FIXED:
        found[f"{name}'s clone"] = keras.get(f"clone:{name}", 0.0)
    found["a training step"] = _sum(parts, "training_step")
    found["saving"] = _sum(parts, "saving")
    found["two clones more"] = _sum(parts, "again", "twice")
    return {**found, "observing": everything - sum(found.values())}


def _sum(parts: Mapping[str, float], *names: str) -> float:
    return sum(seconds for part, seconds in parts.items() if part.partition(":")[0] in names)


def of_checks(answer: Answer | None) -> dict[str, float]:
    """The seconds of each check on all clones; none where there is no model to hold them against."""
    found: dict[str, float] = {}
    if answer is None or answer.original is None:
        return found
    for name in CHECKS:
        began = perf_counter()
        for clone in answer.clones.values():
            compare(answer.original, clone, [name])
        found[name] = perf_counter() - began
    return found


def exponents(timed: Sequence[Timed]) -> dict[str, float]:
    """How fast each part grows: the slope of a line through the logarithms of the larger half of the sizes."""
    larger = timed[len(timed) // 2 :] if len(timed) > 3 else timed
    found = {}
    for part in timed[0].seconds if timed else ():
        points = [(math.log(each.size), math.log(each.seconds[part])) for each in larger if each.seconds[part] > _NOISE]
        if len(points) > 1:
            found[part] = _slope(points)
    return found


def _slope(points: Iterable[tuple[float, float]]) -> float:
    at = list(points)
    x, y = (sum(each[axis] for each in at) / len(at) for axis in (0, 1))
    return sum((a - x) * (b - y) for a, b in at) / sum((a - x) ** 2 for a, _ in at)
