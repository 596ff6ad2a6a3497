"""`functional_graphs()`: the strategy that everything else draws from.

Owns how programs are drawn: which instructions, how many, and what is simplest. All that an instruction needs is drawn
together, in one element of a list, so that shrinking can drop it whole.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Collection, Mapping
from typing import Literal, get_args

from hypothesis import strategies as st

from clonediff.strategies.asking import Keras, asking
from clonediff.strategies.drawn_clone_arguments import DIGITS
from clonediff.strategies.drawn_preparations import DIGITS as PREPARATION_DIGITS
from clonediff.strategies.graph import Graph, Input
from clonediff.strategies.instructions import PLAIN, instructions
from clonediff.strategies.kinds import CATALOGUE, Generation, Kind, less
from clonediff.strategies.kinds.arguments import PATHS
from clonediff.strategies.kinds.given import Given
from clonediff.strategies.kinds.lambdas import BATCH
from clonediff.strategies.kinds.not_drawn import ONLY_WITHIN
from clonediff.strategies.kinds.objects import Objects, is_object
from clonediff.strategies.kinds.operations import is_operation
from clonediff.strategies.lowering import FIRST_ON_RAGGED, WAYS_ON_RAGGED, lower
from clonediff.strategies.preparations import PREPARATIONS
from clonediff.strategies.programs import REGISTERS, Arrangement, Domain, Instruction, Program

Feature = Literal[
    "sharing",
    "nesting",
    "call arguments",
    "names",
    "frozen parts",
    "dtypes",
    "arrangements",
    "strays",
    "sequential",
    "open dimensions",
    "optional inputs",
    "inputs around tensors",
    "repeated inputs",
    "sparse inputs",
    "ragged inputs",
    "nested ends",
    "idle inputs",
    "inputs given back",
    "regularizers",
    "strings",
    "policies",
    "policy maps",
    "new inputs",
    "clone functions",
    "call functions",
    "recursive cloning",
    "cut out",
    "later inputs",
    "shared layers after later inputs",
    "compile",
    "trainable",
    "weight trainable",
    "set",
    "call",
    "run",
    "add_loss",
    "add_metric",
    "policy",
    "built policy",
    "session",
    "built session",
    "name scope",
    "remat",
    "clone name scope",
    "clone remat",
    "objects",
    "set weights",
    "adapt",
    "lora",
    "quantize",
    "stateful",
    "train",
    "hang",
    "other model",
    "load",
    "model calls",
    "late building",
    "shapes of models",
    "own classes",
    "mixed batches",
    "masks of models",
    "forms of values",
]
CLONE_ARGUMENT_FEATURES: frozenset[Feature] = frozenset(
    ("new inputs", "clone functions", "call functions", "recursive cloning")
)
"""What `clone_model` may be given beside the model, for cloners that take it."""
PREPARATION_FEATURES: frozenset[Feature] = frozenset(each for each in get_args(Feature) if each in PREPARATIONS)
"""What may be done to a model before it is cloned, for cloners that say what becomes of it."""
FEATURES: frozenset[Feature] = frozenset(get_args(Feature)) - CLONE_ARGUMENT_FEATURES - PREPARATION_FEATURES
"""What a model may have beside layers called once; "sequential" is that all of it is a chain, "cut out" that it is made
of tensors of another model, which stays.

These some releases cannot build: an input that may be left out, is made around a tensor, is sparse, ragged or taken
twice; inputs and outputs nested more than one deep; an input that no output needs, or that is given back unchanged; the
regularizer of any layer's activity, by its name; an input of texts; a policy of dtypes as an object, or a map of
policies; a model that is cut out and begins at what a call gave; a model that is called otherwise than it takes its
inputs, or is given a mask; a Sequential without an input of its own, or with the shape of a model that it begins with;
a model of a custom class; a custom layer on tensors of which only some know their batch.
"""

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
    Input((3, 4), batch=BATCH),
    Input((4,), "float64"),
    Input((4, 4, 3)),
)
_RARE = (Input((3, 3, 3, 2)), Input((2, 2, 2, 2, 1)), Input((1,), "int32", fill="ids", high=6), Input((3, 3)))
_STRINGS = (Input((3,), "string", fill="words"), Input((1,), "string", fill="words"))
"""These are there only for the layers that take nothing else."""
_RAGGED = (Input((None, 4), ragged=True), Input((None,), "int32", fill="ids", high=6, ragged=True))
_OTHERS: Mapping[Feature, tuple[Input, ...]] = {
    "open dimensions": (Input((None, 4)), Input((None, 4), fill="steps"), Input((None,), "int32", fill="ids", high=6)),
    "optional inputs": (Input((4,), optional=True),),
    "sparse inputs": (Input((4,), sparse=True),),
    "inputs around tensors": (Input((3, 4), around="features"),),
}


def functional_graphs(
    *,
    keras: Keras | None = None,
    catalogue: Mapping[str, Kind] = CATALOGUE,
    generation: Generation = "keras",
    max_instructions: int = 24,
    min_instructions: int = 0,
    kinds: Collection[str] | None = None,
    without: Collection[str] = (),
    features: Collection[Feature] = FEATURES,
    max_inputs: int = 4,
    objects: Objects | None = None,
) -> st.SearchStrategy[Graph]:
    """Functional models, as data.

    `keras` is asked which calls it accepts; without one, it is the Keras at hand when a graph is drawn.
    `generation` is the Keras they are for: "keras" or "tf_keras".
    `catalogue` has the kinds that it has, `kinds` the names of those to draw from (all by default, less `without`);
    `features` what a model may have beside layers called once. A model has at most `max_instructions` calls at each
    level of nesting. `without` holds names of kinds, of single arguments as "GRU.reset_after", of their values as
    "Lambda.form=named" and of objects as "initializers.Constant"; what is named there stands nowhere. Without the
    feature "idle inputs", an input that nothing uses is halved, whatever the kinds are. `objects` are the optimizers,
    losses and metrics that it may be compiled with, beside some that every release has, and the initializers,
    regularizers and constraints of its layers.

    Keras accepts every call, with the tensors that it is given. Shrinks towards
    the fewest calls, inputs and outputs, a `Lambda` that gives back what it takes, and no argument but the needed ones.
    """
    strange = sorted(set(features) - frozenset(get_args(Feature)))
    if strange:
        raise ValueError(f"features: {strange[0]!r} is not one of {', '.join(sorted(get_args(Feature)))}")
    there, has = _there(catalogue, kinds, without), frozenset(features)
    if "Dense" not in there:
        has -= {"sparse inputs"}
    if not FIRST_ON_RAGGED.issubset(there):
        has -= {"ragged inputs"}
    # What an input that nothing uses, or that is sparse or ragged, is given to need not be among the `kinds`.
    known = {**_there(catalogue, None, without), **there}
    its_own = {path: takes for path, takes in (objects or {}).items() if path not in without}
    given = Given(PLAIN, known, its_own) if "forms of values" in has else Given()
    drawn = _programs(instructions(there, has, given), has, min_instructions, max_instructions, max_inputs)
    domain = Domain(
        known,
        has,
        generation,
        _choices(has) + _RARE + (_STRINGS if "strings" in has else ()),
        max_inputs,
        its_own,
    )

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


def _programs(
    instruction: st.SearchStrategy[Instruction],
    features: frozenset[Feature],
    min_instructions: int,
    max_instructions: int,
    inputs: int,
) -> st.SearchStrategy[Program]:
    """Register programs of these instructions. Shrinks towards one input and no instruction."""
    arrange = "arrangements" in features
    arrangements: st.SearchStrategy[Arrangement] = st.sampled_from(
        ("plain", "plain", "plain", "list", "tuple", "dict", "nested")
        if arrange and "nested ends" in features
        else ("plain", "plain", "list")
        if arrange
        else ("plain",)
    )
    nothing: st.SearchStrategy[tuple[int, ...]] = st.just(())
    return st.builds(
        Program,
        inputs=_inputs(features, inputs),
        body=_bodies(instruction, min_instructions, max_instructions),
        outputs=st.lists(_REGISTER, min_size=1, max_size=4 if arrange else REGISTERS).map(tuple),
        ends=st.sampled_from((0, 3, 2, 3, 1)),
        takes=arrangements,
        gives=arrangements,
        named=_seldom("names" in features),
        frozen=_seldom("frozen parts" in features),
        strays=_seldom("strays" in features),
        sequential=_seldom("sequential" in features),
        repeats=st.sampled_from((False,) * 23 + (True,)) if "repeated inputs" in features else st.just(False),
        # At the end, so that they change nothing of what is drawn before them.
        ragged=st.integers(0, WAYS_ON_RAGGED - 1) if "ragged inputs" in features else st.just(0),
        custom_class=_CUSTOM_CLASS if "own classes" in features else st.none(),
        cut=_seldom("cut out" in features).flatmap(lambda cut: _CUTS if cut else nothing),
        clone_arguments=_CLONE_ARGUMENTS if features & CLONE_ARGUMENT_FEATURES else nothing,
        preparations=_PREPARATIONS if features & PREPARATION_FEATURES else nothing,
    )


def _digits(count: int, least: int) -> st.SearchStrategy[tuple[int, ...]]:
    """So many digits where a byte before them is not below `least`, and else none."""
    drawn = st.binary(min_size=1 + count, max_size=1 + count)
    return drawn.map(lambda digits: tuple(digits[1:]) if digits[0] >= least else ())


_CUSTOM_CLASS = st.integers(0, 95).map(lambda drawn: drawn - 84 if drawn >= 84 else None)
"""One model in eight is of a custom class, one in four cloned with arguments; something is done to one in two."""
_CUTS = st.binary(min_size=3, max_size=3).map(tuple)
_CLONE_ARGUMENTS = _digits(DIGITS, 192)
_PREPARATIONS = _digits(PREPARATION_DIGITS, 128)


def _choices(features: frozenset[Feature]) -> tuple[Input, ...]:
    choices = [given for given in _INPUTS if "mixed batches" in features or given.batch is None]
    return (*choices, *(given for name, others in _OTHERS.items() if name in features for given in others))


def _inputs(features: frozenset[Feature], most: int) -> st.SearchStrategy[tuple[Input, ...]]:
    """The first input is one that most layers take, the next are of any sort; the others are left to what needs one."""
    choices = _choices(features)
    floats = [given for given in choices if given.dtype not in ("int32", "bool") and not given.sparse]
    first = st.sampled_from((*floats, _IMAGE, _IMAGE, *_RARE[:2]))
    # Of the two ragged ones each is drawn half as often as another one.
    ragged = _RAGGED if "ragged inputs" in features else ()
    more = st.lists(st.sampled_from((*choices, *choices, *ragged)), max_size=most // 2)
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


def _seldom(possible: bool) -> st.SearchStrategy[bool]:
    return st.sampled_from((False,) * 7 + (True,)) if possible else st.just(False)
