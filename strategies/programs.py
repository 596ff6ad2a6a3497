"""Register programs: lists of instructions that always mean a graph, and the domain that they are drawn from.

How instructions are drawn is in `clonediff.strategies.instructions`, what they mean in `clonediff.strategies.building`.
An instruction reads and writes a few registers, each of which always holds a tensor.
Leaving one out leaves the others meaning what they meant, so that Hypothesis shrinks a program by deleting.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from clonediff.strategies.graph import Axis, Input, Value
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
    way: Literal["", "mask", "initial_state", "other"] = ""
    touch: Touch = ""
    more: tuple[tuple[str, Value], ...] = ()
    how: PassAs | None = None


@dataclass(frozen=True, slots=True)
class Again:
    """Call a layer that is there already once more. `back` counts from the newest one.

    `packing` says how a model is given its tensors: which of those that it takes, 0 being the usual way.
    """

    back: int = 0
    sources: tuple[int, ...] = (0,)
    dest: int = 0
    call_options: tuple[tuple[str, Value], ...] = ()
    packing: int = 0


@dataclass(frozen=True, slots=True)
class Nest:
    """Make a model of a program of its own, on the tensors of some registers, and call it.

    With `names` its inputs have some, and it `takes` them as that says; it is given its tensors in the `packing`. A
    single one may have an `axis` more or less than its input, which with `casts` has another dtype. A sequential one
    may be built `later`, by that call. The model may be of a `custom_class`, by the number of that; or
    with the digits of a `cut` one that is cut out of it. Its call is `given` a flag or a mask, if one is at hand.
    """

    body: tuple[Instruction, ...]
    sources: tuple[int, ...] = (0,)
    dest: int = 0
    outputs: tuple[int, ...] = (0,)
    sequential: bool = False
    touch: Touch = ""
    names: bool = False
    takes: Arrangement = "plain"
    packing: int = 0
    axis: Axis = ""
    casts: bool = False
    later: bool = False
    custom_class: int | None = None
    cut: tuple[int, ...] = ()
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
    anything does; where it is built late, `ends` says when. With the digits of a `cut` all this is the base of a model
    that is cut out of it. `clone_arguments` has the digits of what `clone_model` is given beside the model, none for
    nothing, and `preparations` those of what is done to it before. One that `repeats` takes its first input twice, if
    it has neither. It may be of a `custom_class`, by its number. On its `ragged` inputs a layer of that number is
    called first.
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
    cut: tuple[int, ...] = ()
    clone_arguments: tuple[int, ...] = ()
    preparations: tuple[int, ...] = ()
    repeats: bool = False
    custom_class: int | None = None
    ragged: int = 0


@dataclass(frozen=True, slots=True)
class Domain:
    """What graphs are made of: the `kinds` and `features` of a `generation`.

    An instruction that takes none of a program's tensors gets one of `more_inputs`, until there are `max_inputs`.
    Models are compiled with the `objects` of the release, too.
    """

    kinds: Mapping[str, Kind]
    features: frozenset[str] = frozenset()
    generation: Generation | None = None
    more_inputs: tuple[Input, ...] = ()
    max_inputs: int = 0
    objects: Objects = field(default_factory=dict)
