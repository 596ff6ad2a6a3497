"""Register programs: lists of instructions that always mean a graph, and the domain that they are drawn from.

How instructions are drawn is in `clonediff.strategies.instructions`, what they mean in `clonediff.strategies.building`.
An instruction reads and writes a few registers, each of which always holds a tensor.
Leaving one out leaves the others meaning what they meant, so that Hypothesis shrinks a program by deleting.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from clonediff.strategies.graph import Input, Value
from clonediff.strategies.kinds.kind import Generation, Kind, PassAs
from clonediff.strategies.kinds.objects import Objects

REGISTERS = 3
"""Few, so that an instruction drawn at random mostly finds what an earlier one left.

Where an instruction names a register, 0 is the one written last and 1 to `REGISTERS` are the registers themselves.
So the simplest instruction goes on from the one before it, whichever that is once others are left out.
"""

Touch = Literal[
    "",
    "named",
    "frozen",
    "frozen after",
    "dtype",
    "policy",
    "policy map",
    "autocast",
    "regularized",
    "supports_masking",
    "attributes",
]
Arrangement = Literal["plain", "list", "tuple", "dict", "nested"]


@dataclass(frozen=True, slots=True)
class Apply:
    """Make a layer of `kind` and call it. `way` is a call argument to give where a tensor for it is at hand.

    `more` are further arguments, `how` the form in which its tensors are passed, where that is not the usual one.

    `dest` counts from the first source's register, here and below: 0 puts the result where that was.
    """

    kind: str
    sources: tuple[int, ...] = (0,)
    dest: int = 0
    options: tuple[tuple[str, Value], ...] = ()
    call_options: tuple[tuple[str, Value], ...] = ()
    way: Literal["", "mask", "initial_state"] = ""
    touch: Touch = ""
    more: tuple[tuple[str, Value], ...] = ()
    how: PassAs | None = None


@dataclass(frozen=True, slots=True)
class Again:
    """Call a layer that is there already once more. `back` counts from the newest one."""

    back: int = 0
    sources: tuple[int, ...] = (0,)
    dest: int = 0
    call_options: tuple[tuple[str, Value], ...] = ()


@dataclass(frozen=True, slots=True)
class Nest:
    """Make a model of a program of its own, on the tensors of some registers, and call it.

    The model may be of a `custom_class`, by the number of that. Its call is `given` a flag or a mask.
    """

    body: tuple[Instruction, ...]
    sources: tuple[int, ...] = (0,)
    dest: int = 0
    outputs: tuple[int, ...] = (0,)
    sequential: bool = False
    touch: Touch = ""
    custom_class: int | None = None
    given: Literal["", "training", "mask"] = ""


@dataclass(frozen=True, slots=True)
class Nothing:
    """What every instruction shrinks to."""


NOTHING = Nothing()

Instruction = Nothing | Apply | Again | Nest


@dataclass(frozen=True, slots=True)
class Program:
    """A whole model. `outputs` are registers, `ends` how many tensors that nothing uses yet are outputs as well.

    `strays` keeps calls that no output needs. A `sequential` one is a chain of what links, on the first input alone, if
    anything does. `clone_arguments` is the number of what `clone_model` is given beside the model, and `preparations`
    has the digits of what is done to it before. It may be of a `custom_class`, by its number.
    """

    inputs: tuple[Input, ...]
    body: tuple[Instruction, ...]
    outputs: tuple[int, ...] = (0,)
    ends: int = 0
    takes: Arrangement = "plain"
    gives: Arrangement = "plain"
    named: bool = False
    frozen: bool = False
    strays: bool = False
    sequential: bool = False
    clone_arguments: int | None = None
    preparations: tuple[int, ...] = ()
    custom_class: int | None = None


@dataclass(frozen=True, slots=True)
class Domain:
    """What graphs are made of: the `kinds` of a `generation`, and which abilities its release has `missing`.

    An instruction that takes none of a program's tensors gets one of `more_inputs`, until there are `max_inputs`.
    Models are compiled with the `objects` of the release, too.
    """

    kinds: Mapping[str, Kind]
    missing: frozenset[str] = frozenset()
    generation: Generation | None = None
    more_inputs: tuple[Input, ...] = ()
    max_inputs: int = 0
    objects: Objects = field(default_factory=dict)
