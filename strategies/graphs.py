"""`functional_graphs()`: the strategy that everything else draws from.

Owns how programs are drawn: which instructions, how many, and what is simplest. All that an instruction needs is drawn
together, in one element of a list, so that shrinking can drop it whole.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache
from typing import Any, Literal, get_args

from hypothesis import strategies as st

from clonediff.strategies.asking import Keras, asking
from clonediff.strategies.drawn_models import Digits, again, nest
from clonediff.strategies.drawn_states import DIGITS as STATE_DIGITS
from clonediff.strategies.drawn_ways import DIGITS
from clonediff.strategies.graph import Graph, Input, Value
from clonediff.strategies.kinds import CATALOGUE, Generation, Kind, less
from clonediff.strategies.kinds.arguments import PATHS
from clonediff.strategies.kinds.lambdas import BATCH
from clonediff.strategies.kinds.not_drawn import ONLY_WITHIN
from clonediff.strategies.kinds.operations import is_operation
from clonediff.strategies.lowering import lower
from clonediff.strategies.pieces import BYTES, begun_with_a_piece, pieces_of
from clonediff.strategies.programs import (
    MORE,
    NOTHING,
    OPTIONS,
    REGISTERS,
    Apply,
    Arrangement,
    Instruction,
    Program,
    Touch,
)
from clonediff.strategies.special_inputs import FIRST_ON_RAGGED, WAYS_ON_RAGGED
from clonediff.strategies.states import RATE, STEPS
from clonediff.strategies.ways import LATER, SPARSE

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
    "partial masks",
    "idle inputs",
    "inputs given back",
    "regularizers",
    "strings",
    "policies",
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
    "pieces",
    "model calls",
    "late building",
    "shapes of models",
    "own classes",
    "mixed batches",
    "masks of models",
]
WAYS: frozenset[Feature] = frozenset(("new inputs", "clone functions", "call functions", "recursive cloning"))
"""What `clone_model` may be given beside the model, for cloners that take it."""
STATES: frozenset[Feature] = frozenset(each for each in get_args(Feature) if each in STEPS)
"""What may be done to a model before it is cloned, for cloners that say what becomes of it."""
PIECES: frozenset[Feature] = frozenset(("pieces",))
"""That a model may begin with a piece of a real architecture: for who draws many, and makes what is found smaller by
other means as well. Hypothesis alone does not get from what is left of a piece to a smaller graph that has none."""
FEATURES: frozenset[Feature] = frozenset(get_args(Feature)) - WAYS - STATES - PIECES
"""What a model may have beside layers called once; "sequential" is that all of it is a chain, "cut out" that it is made
of tensors of another model, which stays.

These some releases cannot build: an input that may be left out, is made around a tensor, is sparse, ragged or taken
twice; inputs and outputs nested more than one deep; a layer with masks of its own called on tensors of which only some
have a mask; an input that no output needs, or that is given back unchanged; the regularizer of any layer's activity, by
its name; an input of texts; a policy of dtypes as an object; a model that is cut out and begins at what a call gave; a
model that is called otherwise than it takes its inputs, or is given a mask; a Sequential without an input of its own,
or with the shape of a model that it begins with; a model of a class of one's own; a layer of one's own on tensors of
which only some know their batch.
"""

DrawFn = Callable[[st.SearchStrategy[Any]], Any]

OPERATIONS = "operations"
"""The family that is drawn beside all the others, however many kinds each of the two has."""
LAYERS = 3
"""So many layers are drawn for one operation."""

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
_OPEN = (Input((None, 4)), Input((None, 4), fill="steps"), Input((None,), "int32", fill="ids", high=6))
_OPTIONAL = (Input((4,), optional=True),)
_SPARSE = (Input((4,), sparse=True),)
_RAGGED = (Input((None, 4), ragged=True), Input((None,), "int32", fill="ids", high=6, ragged=True))
_AROUND = (Input((3, 4), around="features"),)


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
    state_rate: int = RATE,
) -> st.SearchStrategy[Graph]:
    """Functional models, as data.

    `keras` is asked which calls it accepts; without one, it is the Keras at hand when a graph is drawn.
    `generation` is the Keras they are for: "keras", "tf_keras" or "keras2".
    `catalogue` has the kinds that it has, `kinds` the names of those to draw from (all by default, less `without`);
    `features` what a model may have beside layers called once. A model has at most `max_instructions` calls at each
    level of nesting. `without` holds names of kinds, of single arguments as "GRU.reset_after", of their values as
    "Lambda.form=named" and of objects as "initializers.Constant"; what is named there stands nowhere. Without the
    feature "idle inputs", an input that nothing uses is halved, whatever the kinds are. Where something is done to a
    model, it is something costly with one in `state_rate`; 0 for none, 1 for all that it suits.

    Keras accepts every call, with the tensors that it is given. Shrinks towards
    the fewest calls, inputs and outputs, a `Lambda` that gives back what it takes, and no argument but the needed ones.
    """
    strange = sorted(set(features) - frozenset(get_args(Feature)))
    if strange:
        raise ValueError(f"features: {strange[0]!r} is not one of {', '.join(sorted(get_args(Feature)))}")
    there, features_ = _there(catalogue, kinds, without), frozenset(features)
    programs_ = programs(
        generation=generation,
        max_instructions=max_instructions,
        min_instructions=min_instructions,
        kinds=there,
        features=features_,
        max_inputs=max_inputs,
        state_rate=state_rate,
    )
    pieces = pieces_of(there, features, without, max_inputs, max_instructions) if features_ & PIECES else ()
    if pieces:
        touches = {name: _touches(kind, features_) for name, kind in there.items()}

        def begun(drawn: tuple[Program, bytes, bytes, bytes]) -> Program:
            program, *_, piece = drawn
            return begun_with_a_piece(program, piece, pieces, touches.__getitem__, max_inputs, max_instructions)

        # At the end, so that what is drawn before it stays what it was; and the same whether there are ways and states.
        nothing = st.just(b"")
        way, state = nothing if features_ & WAYS else _WAY, nothing if features_ & STATES else _STATE
        programs_ = st.tuples(programs_, way, state, BYTES).map(begun)

    # What an input that nothing uses, or that is sparse or ragged, is given to need not be among the `kinds`.
    all_kinds = {**_there(catalogue, None, without), **there}

    def lowered(program: Program) -> Graph:
        with contextlib.nullcontext() if keras is None else asking(keras):
            return lower(program, all_kinds)

    return programs_.map(lowered)


def _there(catalogue: Mapping[str, Kind], kinds: Collection[str] | None, without: Collection[str]) -> dict[str, Kind]:
    """The kinds to draw from, as far as nothing of them is left out."""
    named = {name.rpartition(".")[0] if _is_argument(name, catalogue) else name for name in set(without) - PATHS}
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


def programs(
    *,
    generation: Generation,
    max_instructions: int,
    min_instructions: int,
    kinds: Mapping[str, Kind],
    features: frozenset[Feature],
    max_inputs: int,
    state_rate: int,
) -> st.SearchStrategy[Program]:
    """Register programs over these kinds. Shrinks towards one input and no instruction."""
    arrange = "arrangements" in features
    if "Dense" not in kinds:
        features -= {"sparse inputs"}
    if not FIRST_ON_RAGGED.issubset(kinds):
        features -= {"ragged inputs"}
    arrangements: st.SearchStrategy[Arrangement] = st.sampled_from(
        ("plain", "plain", "plain", "list", "tuple", "dict", "nested")
        if arrange and "nested ends" in features
        else ("plain", "plain", "list")
        if arrange
        else ("plain",)
    )
    return st.builds(
        Program,
        inputs=_inputs(features, max_inputs),
        body=_bodies(instructions(_Kinds(kinds), features, 2), min_instructions, max_instructions),
        outputs=st.lists(_REGISTER, min_size=1, max_size=4 if arrange else REGISTERS).map(tuple),
        ends=st.sampled_from((0, 3, 2, 3, 1)),
        takes=arrangements,
        gives=arrangements,
        named=_seldom("names" in features),
        frozen=_seldom("frozen parts" in features),
        strays=_seldom("strays" in features),
        sequential=_seldom("sequential" in features),
        idle_inputs=st.just("idle inputs" in features),
        gives_inputs=st.just("inputs given back" in features),
        generation=st.just(generation),
        more_inputs=st.just(_choices(features) + _rare(features)),
        most_inputs=st.just(max_inputs),
        later_inputs=st.just("later inputs" in features),
        later_shared=st.just("shared layers after later inputs" in features),
        repeats=_seldom("repeated inputs" in features),
        # At the end, so that they change nothing of what is drawn before them.
        ragged=st.integers(0, WAYS_ON_RAGGED - 1) if "ragged inputs" in features else st.just(0),
        own=_OWN.map(_own) if "own classes" in features else st.none(),
        cut=_seldom("cut out" in features).flatmap(lambda cut: _CUTS if cut else st.just(())),
        way=_WAY.map(_way) if features & WAYS else st.just(()),
        ways=st.just(features & (WAYS | {SPARSE, LATER})),
        state=_STATE.map(_state) if features & STATES else st.just(()),
        steps=st.just(features & STATES),
        state_rate=st.just(state_rate),
        late=st.just("late building" in features),
        shaped=st.just("shapes of models" in features),
    )


_OWN = st.integers(0, 95)
_OF_NO_CLASS = 84
"""A number below that leaves a model of no class of one's own: seven of eight."""


def _own(drawn: int) -> int | None:
    return drawn - _OF_NO_CLASS if drawn >= _OF_NO_CLASS else None


_CUTS = st.binary(min_size=3, max_size=3).map(tuple)
_WAY = st.binary(min_size=1 + DIGITS, max_size=1 + DIGITS)
_PLAINLY = 192
"""A byte below that clones plainly: three of four."""


def _way(drawn: bytes) -> tuple[int, ...]:
    return tuple(drawn[1:]) if drawn[0] >= _PLAINLY else ()


_STATE = st.binary(min_size=1 + STATE_DIGITS, max_size=1 + STATE_DIGITS)
_AS_IT_IS = 208
"""A byte below that leaves the model as it was made: four of five."""


def _state(drawn: bytes) -> tuple[int, ...]:
    return tuple(drawn[1:]) if drawn[0] >= _AS_IT_IS else ()


def _choices(features: frozenset[Feature]) -> tuple[Input, ...]:
    choices = tuple(given for given in _INPUTS if "mixed batches" in features or given.batch is None)
    if "open dimensions" in features:
        choices += _OPEN
    if "optional inputs" in features:
        choices += _OPTIONAL
    if "sparse inputs" in features:
        choices += _SPARSE
    if "inputs around tensors" in features:
        choices += _AROUND
    return choices


def _rare(features: frozenset[Feature]) -> tuple[Input, ...]:
    return _RARE + _STRINGS if "strings" in features else _RARE


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


class _Kinds(dict[str, Kind]):
    """Kinds by name, as what a cache can hold."""

    def __hash__(self) -> int:  # type: ignore[override]  # nobody changes it
        return hash(tuple(self))


@cache
def instructions(kinds: _Kinds, features: frozenset[Feature], depth: int) -> st.SearchStrategy[Instruction]:
    """One instruction. Shrinks towards none at all, then down the catalogue, then reuse, then nesting.

    An instruction is two draws: what it is, and a string of bytes that it reads as it needs. So changing what it is
    leaves the draws after it where they were, and leaving it out is a deletion short enough for Hypothesis to try.
    `depth` is how many models may still be nested in one another.
    """
    meanings: list[Meaning] = [_nothing]
    times = _times(kinds.values())
    for kind in kinds.values():
        meanings += [_application(kind, features)] * (kind.weight * (1 if kind.family == OPERATIONS else times))
    count, otherwise = len(meanings), "model calls" in features
    if "sharing" in features:
        meanings += [lambda digits: again(digits, otherwise)] * max(1, count // 8)
    nests = max(1, count // 16) if "nesting" in features and depth > 0 else 0
    verbs = st.integers(0, len(meanings) + nests - 1)
    inner = instructions(kinds, features, depth - 1) if nests else st.nothing()
    body = st.lists(inner, min_size=1, max_size=3).map(tuple) if nests else st.just(())

    @st.composite
    def instruction(draw: DrawFn) -> Instruction:
        verb: int = draw(verbs)
        if verb == 0:
            return NOTHING
        source, second, dest, way, touch, *rest = draw(_BYTES)
        digits = Digits(
            source % (REGISTERS + 1),
            second % (REGISTERS + 1),
            _DESTS[dest % 4],
            way,
            touch,
            tuple(rest[:OPTIONS]),
            tuple(zip(rest[OPTIONS::2], rest[OPTIONS + 1 :: 2], strict=True)),
        )
        if verb < len(meanings):
            return meanings[verb](digits)
        return nest(digits, draw(body), features, outermost=depth > 1 and "Dense" in kinds)

    return instruction()


def _times(kinds: Collection[Kind]) -> int:
    """How much more often a layer is drawn than its weight says, so that one kind in four is an operation at most."""
    operations = sum(kind.weight for kind in kinds if kind.family == OPERATIONS)
    layers = sum(kind.weight for kind in kinds) - operations
    return max(1, round(LAYERS * operations / layers)) if layers else 1


_BYTES = st.binary(min_size=5 + OPTIONS + 2 * MORE, max_size=5 + OPTIONS + 2 * MORE)
_UNSAID = 192
"""A byte below that sets no further argument: three of four."""
_DESTS = (0, 0, 1, 2)

Meaning = Callable[[Digits], Instruction]


def _nothing(digits: Digits) -> Instruction:
    return NOTHING


def _application(kind: Kind, features: frozenset[Feature]) -> Meaning:
    """How digits are read for a layer of this kind; those of many options are read in a circle."""
    options, call_options = tuple(kind.options.items()), tuple(kind.call_options.items())
    more = tuple(kind.more.items())
    calls = [name for name in kind.calls if name != "other" or "optional inputs" in features]
    ways = ("", *calls) if "call arguments" in features else ("",)
    touches = _touches(kind, features)

    def application(digits: Digits) -> Apply:
        count, how = kind.forms[digits.way % len(kind.forms)]
        turned = itertools.cycle(digits.options)
        return Apply(
            kind.name,
            (digits.source, digits.second, digits.second + 1, digits.second + 2)[:count],
            digits.dest,
            _chosen(options, turned),
            _chosen(call_options, turned),
            ways[digits.way % len(ways)],  # type: ignore[arg-type]  # the kind's own words
            touches[digits.touch % len(touches)],
            tuple(_further(more, digits.more)),
            how,
        )

    return application


def _further(
    more: tuple[tuple[str, tuple[Value, ...]], ...], digits: tuple[tuple[int, int], ...]
) -> Iterator[tuple[str, Value]]:
    for which, value in digits:
        if more and which >= _UNSAID:
            key, values = more[(which - _UNSAID) % len(more)]
            yield key, values[value % len(values)]


def _chosen(tables: tuple[tuple[str, tuple[Value, ...]], ...], digits: Iterator[int]) -> tuple[tuple[str, Value], ...]:
    return tuple((key, values[next(digits) % len(values)]) for key, values in tables)


def _touches(kind: Kind, features: frozenset[Feature]) -> tuple[Touch, ...]:
    """A touch for each digit: mostly none. An operation has none."""
    if not kind.shared:
        return ("",)
    touches: list[Touch] = []
    if "names" in features:
        touches.append("named")
    if "frozen parts" in features:
        touches += ["frozen", "frozen after"]
    if "dtypes" in features:
        touches += ["dtype", *(("policy", "policy map") if "policies" in features else ())]
    if "policies" in features:
        touches.append("autocast")
    if "regularizers" in features:
        touches.append("regularized")
    if kind.name == "DropMask":
        touches.append("supports_masking")
    none: list[Touch] = [""] * (12 - len(touches))
    return (*none, *touches)
