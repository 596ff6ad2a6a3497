"""What an entry of the catalogue is: a name, the values worth trying for its arguments, and how it is called.

Nothing here says what a layer accepts or gives: Keras is asked (`clonediff.strategies.asking`).

Adding a kind takes one entry in one module of this package, and none where its signature says all:

Kind("Dense", options={"units": (4, 1, 8)})
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias, get_args

import msgspec

from clonediff.strategies.graph import Made, Named, Ref, Seq, Value

Generation = Literal["keras", "tf_keras"]
"""Keras 3, and `tf_keras`, which is Keras 2 on TensorFlow 2."""
GENERATIONS: tuple[Generation, ...] = get_args(Generation)
Dims = tuple[int | None, ...]

LEFT_OUT = "<left out>"
"""The option of not giving an argument at all, which is not the same as giving None."""

NO_SENSE = (ArithmeticError, LookupError, AssertionError, TypeError, ValueError)
"""What is raised where no values can be made for tensors."""

DTYPES = ("float64", "mixed_bfloat16", "float16")
"""The dtypes and policies that a layer may be given."""


@dataclass(frozen=True, slots=True)
class Spec:
    """A tensor as the catalogue sees it: its shape without the batch, its dtype, whether it may carry a mask.

    A mask always has the shape (batch, first dimension). `large` says of whole numbers that they may be no ids,
    `ragged` that its rows are of several lengths. `told_sparse` is a dense one that Keras 3 takes for a sparse one.
    """

    shape: Dims
    dtype: str = "float32"
    mask: bool = False
    large: bool = False
    ragged: bool = False
    told_sparse: bool = False

    def __post_init__(self) -> None:
        """A dtype that was read is the one that is written: JSON leaves out what is the default itself."""
        object.__setattr__(self, "dtype", sys.intern(self.dtype))

    @property
    def rank(self) -> int:
        return len(self.shape)

    def is_mask_of(self, other: Spec) -> bool:
        """Whether it can be given as the mask of another tensor."""
        return self.dtype == "bool" and self.shape == other.shape[:1]


Specs = tuple[Spec, ...]
Arrange = Callable[[Specs, Mapping[str, Value]], "dict[str, Value] | None"]

NO_PLAIN_DEFAULT = "<no plain default>"
"""The default of what has none, or one that is no number, no text and no list of them."""


class Parameter(msgspec.Struct, frozen=True, omit_defaults=True):
    """A parameter. The name of one that takes any number of arguments begins with a star, as "*operands"."""

    name: str
    required: bool = False
    default: Value = NO_PLAIN_DEFAULT
    keyword_only: bool = False


Parameters: TypeAlias = tuple[Parameter, ...]
"""What a release says of the parameters of a function or a constructor."""

PassAs = Literal["one", "list", "each", "either", "any"]
Form = tuple[int, PassAs]
"""How a layer may be called: on so many tensors, passed so."""
_ANY: tuple[Form, ...] = ((1, "one"), (1, "one"), (1, "one"), (2, "list"), (2, "each"), (3, "list"))


@dataclass(frozen=True, slots=True)
class Kind:
    """A layer or an operation: its name, which arguments it can have, and how it is called.

    `takes` is how many tensors one call is given and `pass_as` how: the only argument, a list, one argument each,
    either the only argument or a list, by their number. Of a layer that nobody knows it is "any".
    `options` are constructor arguments with the values to draw from, `call_options` call arguments that are plain
    values, `calls` the call arguments that are tensors. `more` are further constructor arguments, which mostly stay
    unsaid: what a signature has beside the `options` (see `clonediff.strategies.kinds.of_release`).
    `arrange` makes values that follow from the tensors, of what was drawn for the `options`; `parts` are those of them
    that are no arguments themselves. A layer that is `shared` may be called again, named and frozen.
    """

    name: str
    options: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    call_options: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    more: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    calls: tuple[Literal["mask", "initial_state"], ...] = ()
    takes: tuple[int, int] = (1, 1)
    pass_as: PassAs = "one"
    arrange: Arrange | None = None
    parts: tuple[str, ...] = ()
    family: str = ""
    shared: bool = True
    weight: int = 1

    @property
    def forms(self) -> tuple[Form, ...]:
        """The ways to call it, the simplest first; one of a layer that nobody knows stands there more than once."""
        if self.pass_as == "any":
            return _ANY
        return tuple((count, self.how(count)) for count in range(self.takes[0], self.takes[1] + 1))

    def how(self, count: int) -> PassAs:
        """How so many tensors are passed, as a rule."""
        if self.pass_as == "either":
            return "list" if count > 1 else "one"
        if self.pass_as == "any":
            return "each" if count > 1 else "one"
        return self.pass_as

    def listed(self, count: int) -> bool:
        """Whether so many tensors are passed in a list."""
        return self.how(count) == "list"

    def packed(self, tensors: tuple[Ref, ...], how: PassAs | None = None) -> tuple[Value, ...]:
        """What a call on these tensors is given before its keywords."""
        return (Seq(tensors),) if (how or self.how(len(tensors))) == "list" else tensors


def plain_kinds(names: str, **fields: int) -> tuple[Kind, ...]:
    """Kinds of which there is nothing to say beside their names, and what all of them have."""
    return tuple(Kind(name, weight=fields.get("weight", 1)) for name in names.split())


def less(kind: Kind, without: Collection[str]) -> Kind | None:
    """The kind without the arguments ("GRU.reset_after"), their values ("Lambda.form=named"), the inner layers ("GRU")
    and the objects that are named.

    None where an argument that it cannot do without has no value left. One that is left out keeps its place among the
    options, so that what is drawn for the others still means the same.
    """
    if not without:
        return kind
    tables = []
    for options in (kind.options, kind.call_options):
        table: dict[str, tuple[Value, ...]] = {}
        for key, values in options.items():
            name = f"{kind.name}.{key}"
            table[key] = tuple(
                value
                for value in values
                if value == LEFT_OUT
                or not (name in without or f"{name}={value}" in without or any(_mentions(value, without)))
            )
            if not table[key]:
                return None
        tables.append(table)
    more = {
        key: tuple(value for value in values if not any(_mentions(value, without)))
        for key, values in kind.more.items()
        if f"{kind.name}.{key}" not in without
    }
    return replace(
        kind,
        options=tables[0],
        call_options=tables[1],
        more={key: values for key, values in more.items() if values},
    )


def _mentions(value: Value, without: Collection[str]) -> Iterator[bool]:
    match value:
        case Made(layer=layer):
            yield layer.kind in without
            for key, inner in layer.args:
                yield f"{layer.kind}.{key}" in without
                yield from _mentions(inner, without)
        case Named(path=path):
            yield path in without
        case Seq(items=items):
            for item in items:
                yield from _mentions(item, without)


def listed(*items: Value) -> Seq:
    """A list."""
    return Seq(items)


def tupled(*items: Value) -> Seq:
    """A tuple."""
    return Seq(items, "tuple")
