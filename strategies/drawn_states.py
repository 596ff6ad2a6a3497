"""What is done to the model of a drawn graph before it is cloned: read from a few digits, as far as it suits it."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Sequence

from msgspec import structs

from strategies.graph import Graph, Step
from strategies.kinds import LEFT_OUT
from strategies.states import RATE, STEPS
from strategies.unsuited_states import WITH_WAYS, unsuited_state

_STEP = 11
"""As many digits a step is read from: what it does, to what, and its arguments."""
_MOST = 3
DIGITS = 1 + _MOST * _STEP
_FIRST = 160
"""A digit below that gives an argument its simplest value."""


def steps(graph: Graph, digits: Sequence[int], sorts: Collection[str], rate: int = RATE) -> tuple[Step, ...]:
    """The steps that the digits stand for: one as a rule, three at most, and none twice.

    In one of `rate` cases the first is a costly one, if any suits the graph; 0 is never, 1 always.
    """
    there = [name for name, sort in STEPS.items() if name in sorts and graph.generation in sort.generations]
    there = there if graph.way is None else [name for name in there if name in WITH_WAYS]
    cheap = [name for name in there if not STEPS[name].costly]
    count = 1 + (digits[0] % 4 == 3) + (digits[0] % 16 == 15)
    chosen = rate > 0 and zlib.crc32(bytes(digits)) % rate == 0
    found: tuple[Step, ...] = ()
    for number in range(count):
        read = digits[1 + number * _STEP : 1 + (number + 1) * _STEP]
        step = None
        if chosen and number == 0:
            step = _step(graph, read, [name for name in there if STEPS[name].costly])
        step = step or _step(graph, read, cheap)
        if step is None:
            continue
        last = sum(each.does == "load" for each in found)  # after which there is another model
        more = (*found[: len(found) - last], step, *found[len(found) - last :])
        if not unsuited_state(structs.replace(graph, state=more)):
            found = more
    return found


def _step(graph: Graph, digits: Sequence[int], there: Sequence[str]) -> Step | None:
    """A step of one of the sorts that can be done to something of the model."""
    which, target, *rest = digits
    suited = [(name, on) for name in there if (on := list(STEPS[name].on(graph)))]
    if not suited:
        return None
    name, on = suited[which % len(suited)]
    kind = on[target % len(on)]
    known = STEPS[name].args(graph, kind)
    if STEPS[name].one:
        key, values = list(known.items())[rest[0] % len(known)]
        return Step(name, kind, ((key, values[rest[1] % len(values)]),))
    args = []
    for (key, values), digit in zip(known.items(), rest, strict=False):
        needed = LEFT_OUT not in values
        value = values[digit % len(values)] if needed or digit >= _FIRST else values[0]
        if value != LEFT_OUT:
            args.append((key, value))
    return Step(name, kind, tuple(args))
