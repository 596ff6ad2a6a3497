"""`functional_graphs()`: the strategy that everything else draws from.

Owns how programs are drawn: which instructions, how many, and what is simplest. All that an instruction needs is drawn
together, in one element of a list, so that shrinking can drop it whole.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Collection, Mapping

from hypothesis import strategies as st

from clonediff.strategies.asking import Keras, asking
from clonediff.strategies.drawn_preparations import DIGITS
from clonediff.strategies.graph import Graph, Input
from clonediff.strategies.instructions import PLAIN, instructions
from clonediff.strategies.kinds import CATALOGUE, Generation, Kind, less
from clonediff.strategies.kinds.arguments import PATHS
from clonediff.strategies.kinds.given import Given
from clonediff.strategies.kinds.not_drawn import ONLY_WITHIN
from clonediff.strategies.kinds.objects import Objects, is_object
from clonediff.strategies.kinds.operations import is_operation
from clonediff.strategies.lowering import lower
from clonediff.strategies.programs import REGISTERS, Arrangement, Domain, Instruction, Program

_REGISTER = st.integers(0, REGISTERS)
_IMAGE = Input((4, 4, 2))
_INPUTS: tuple[Input, ...] = (
    Input((3, 4)),
    Input((4,)),
    Input((3, 4), fill="steps"),
    Input((1,)),
    Input((3,), "int32", fill="ids", high=6),
    Input((3,), "bool", fill="mask"),
    _IMAGE,
    Input((4,), "float64"),
    Input((4, 4, 3)),
    Input((None, 4)),
    Input((None, 4), fill="steps"),
    Input((None,), "int32", fill="ids", high=6),
    Input((4,), optional=True),
)
_RARE = (Input((3, 3, 3, 2)), Input((2, 2, 2, 2, 1)), Input((1,), "int32", fill="ids", high=6), Input((3, 3)))
_STRINGS = (Input((3,), "string", fill="words"), Input((1,), "string", fill="words"))
"""These are there only for the layers that take nothing else."""


def functional_graphs(
    *,
    keras: Keras | None = None,
    catalogue: Mapping[str, Kind] = CATALOGUE,
    generation: Generation = "keras",
    max_instructions: int = 24,
    min_instructions: int = 0,
    kinds: Collection[str] | None = None,
    without: Collection[str] = (),
    missing: Collection[str] = (),
    clone_arguments: bool = False,
    preparations: bool = False,
    max_inputs: int = 4,
    objects: Objects | None = None,
) -> st.SearchStrategy[Graph]:
    """Functional models, as data.

    `keras` is asked which calls it accepts; without one, it is the Keras at hand when a graph is drawn.
    `generation` is the Keras they are for. `catalogue` has the kinds that it has, `kinds` the names of those to draw
    from (all by default, less `without`); `missing` the abilities that the release lacks. A model has at most
    `max_instructions` calls at each level of nesting. With `clone_arguments` some models are cloned with arguments, and
    with `preparations` something is done to some before. `without` holds names of kinds, of single arguments as
    "GRU.reset_after", of their values as "Lambda.form=named" and of objects as "initializers.Constant"; what is named
    there stands nowhere. `objects` are the optimizers, losses and metrics that it may be compiled with, beside some
    that every release has, and the initializers, regularizers and constraints of its layers.

    Keras accepts every call, with the tensors that it is given. Shrinks towards the fewest calls, inputs and outputs, a
    `Lambda` that gives back what it takes, and no argument but the needed ones.
    """
    there = _there(catalogue, kinds, without)
    # What an input that nothing uses is given to need not be among the `kinds`.
    known = {**_there(catalogue, None, without), **there}
    its_own = {path: takes for path, takes in (objects or {}).items() if path not in without}
    instruction = instructions(there, Given(PLAIN, known, its_own))
    drawn = st.builds(
        Program,
        inputs=_inputs(max_inputs),
        body=_bodies(instruction, min_instructions, max_instructions),
        outputs=st.lists(_REGISTER, min_size=1, max_size=4).map(tuple),
        ends=st.sampled_from((0, 3, 2, 3, 1)),
        takes=_ARRANGEMENTS,
        gives=_ARRANGEMENTS,
        named=_SELDOM,
        frozen=_SELDOM,
        strays=_SELDOM,
        sequential=_SELDOM,
        custom_class=_CUSTOM_CLASS,
        clone_arguments=_CLONE_ARGUMENTS if clone_arguments else st.none(),
        preparations=_PREPARATIONS if preparations else st.just(()),
    )
    more_inputs = (*_INPUTS, *_RARE, *_STRINGS)
    domain = Domain(known, frozenset(missing), generation, more_inputs, max_inputs, its_own)

    def lowered(program: Program) -> Graph:
        with contextlib.nullcontext() if keras is None else asking(keras):
            return lower(program, domain)

    return drawn.map(lowered)


def _there(catalogue: Mapping[str, Kind], kinds: Collection[str] | None, without: Collection[str]) -> dict[str, Kind]:
    """The kinds to draw from, as far as nothing of them is left out."""
    others = [name for name in without if name not in PATHS and not is_object(name)]
    named = {name.rpartition(".")[0] if _is_argument(name, catalogue) else name for name in others}
    unknown = sorted({*(kinds or ()), *(named - ONLY_WITHIN)} - {*catalogue, *CATALOGUE})
    if unknown:
        raise ValueError(
            f"kinds: {unknown[0]!r} is not in the catalogue; see clonediff.strategies.kinds.CATALOGUE for what is"
        )
    wanted = ((name, kind) for name, kind in catalogue.items() if kinds is None or name in kinds)
    found = ((name, less(kind, without)) for name, kind in wanted if name not in without)
    return {name: kind for name, kind in found if kind is not None}


def _is_argument(name: str, catalogue: Mapping[str, Kind]) -> bool:
    """Whether it names an argument of a kind; kinds that are operations have a dot in their own names."""
    return "." in name and name not in catalogue and not is_operation(name)


_ARRANGEMENTS: st.SearchStrategy[Arrangement] = st.sampled_from(
    ("plain", "plain", "plain", "list", "tuple", "dict", "nested")
)
_SELDOM = st.sampled_from((False,) * 7 + (True,))
_CUSTOM_CLASS = st.integers(0, 95).map(lambda drawn: drawn - 84 if drawn >= 84 else None)
"""One model in eight is of a custom class."""
_CLONE_ARGUMENTS = st.integers(0, 95).map(lambda drawn: drawn - 84 if drawn >= 84 else None)
"""One model in eight is cloned with arguments."""
_PREPARATIONS = st.binary(min_size=1 + DIGITS, max_size=1 + DIGITS).map(
    lambda digits: tuple(digits[1:]) if digits[0] >= 128 else ()
)
"""Something is done to every second model."""


def _inputs(most: int) -> st.SearchStrategy[tuple[Input, ...]]:
    """The first input is one that most layers take, the next are of any sort; the others are left to what needs one."""
    floats = [given for given in _INPUTS if given.dtype not in ("int32", "bool")]
    first = st.sampled_from((*floats, _IMAGE, _IMAGE, *_RARE[:2]))
    more = st.lists(st.sampled_from(_INPUTS), max_size=most // 2)
    return st.tuples(first, more).map(lambda drawn: (drawn[0], *drawn[1]))


_LIST = 8
"""As long is each of the lists that a program is made of: four instructions on average."""


def _bodies(
    instruction: st.SearchStrategy[Instruction], low: int, high: int
) -> st.SearchStrategy[tuple[Instruction, ...]]:
    """Several short lists, one after the other: a single one has five elements on average, whatever its limit."""
    count = max(2, -(-high // _LIST))
    sizes = [high // count + (place < high % count) for place in range(count)]
    sizes[0] = max(sizes[0], low)
    parts = [st.lists(instruction, min_size=0 if place else low, max_size=size) for place, size in enumerate(sizes)]
    return st.tuples(*parts).map(lambda drawn: tuple(itertools.chain.from_iterable(drawn)))
