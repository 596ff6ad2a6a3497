"""What an entry of the catalogue is, and the rules most entries are made of.

Owns `Kind`, `Spec` and the small rules that entries are put together from.

Adding a kind takes one entry in one module of this package:

Kind("Dense", options={"units": (4, 1, 8)}, fits=floats(1, 3), gives=last("units"), masks=True)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from strategies.graph import Items, Layer, Made, Named, Ref, Seq, Value

Generation = Literal["keras", "tf_keras", "keras2"]
"""Keras 3; the Keras 2 that lives on TensorFlow 2, as `tf_keras` or `tf.keras`; Keras 2.2 and 2.3 before it."""
GENERATIONS: tuple[Generation, ...] = get_args(Generation)
Dims = tuple[int | None, ...]

LEFT_OUT = "<left out>"
"""The option of not giving an argument at all, which is not the same as giving None."""

FLOATS = ("float32", "float16", "bfloat16", "float64")
IDS = ("int32", "int64")


@dataclass(frozen=True, slots=True)
class Spec:
    """A tensor as the catalogue sees it: its shape without the batch, its dtype, whether it may carry a mask.

    A mask always has the shape (batch, first dimension). `large` says of whole numbers that they may be no ids,
    `absent` that it is None when the model is run, `sparse` that it holds nothing but what is not zero, `ragged` that
    its rows are of several lengths. `told_sparse` is a dense one that Keras 3 takes for a sparse one.
    """

    shape: Dims
    dtype: str = "float32"
    mask: bool = False
    large: bool = False
    absent: bool = False
    sparse: bool = False
    ragged: bool = False
    told_sparse: bool = False

    @property
    def usual(self) -> bool:
        """Whether it is dense, and there when the model is run."""
        return not (self.absent or self.sparse or self.ragged)

    @property
    def suits_models(self) -> bool:
        """Whether a model within the model can be called on it, whatever layers it has that are called on such ones."""
        return not (self.absent or self.sparse or self.told_sparse)

    @property
    def rank(self) -> int:
        return len(self.shape)

    def like(self, other: Spec) -> bool:
        """Whether a model that is made for the one can be called on the other; masks are another question."""
        mine, its = ((each.shape, each.dtype, each.large, each.ragged) for each in (self, other))
        return mine == its

    def is_mask_of(self, other: Spec) -> bool:
        """Whether it can be given as the mask of another tensor."""
        return self.dtype == "bool" and self.shape == other.shape[:1]


Specs = tuple[Spec, ...]
Fits = Callable[[Specs], bool]
Gives = Callable[[Specs, Layer], "Specs | None"]
Arrange = Callable[[Specs, Mapping[str, Value]], "dict[str, Value] | None"]


@dataclass(frozen=True, slots=True)
class Kind:
    """A layer or an operation: which tensors it accepts, what it gives back, which arguments it can have.

    `takes` is how many tensors one call is given and `pass_as` how: the only argument, a list, one argument each,
    either the only argument or a list, by their number; "nested" is a dict of one and a tuple of the others, and
    "gapped" a list, or "apart" one argument each, with None after the first.
    `options` are constructor arguments with the values to draw from, `call_options` call arguments that are plain
    values, `calls` the call arguments that are tensors. `gives` answers None where the layer cannot be called on
    those tensors; it sees the layer as it stands, so that it also decides whether a layer may be called again.
    `more` are further constructor arguments, which mostly stay unsaid (see `strategies.kinds.arguments`).
    `takes_trainable` says that its constructor has that argument, `takes_regularizer` that it has
    `activity_regularizer` if its family does, `masks` that the layer hands its input's mask on;
    `arrange` changes drawn options to suit the tensors: `parts` are those that it makes an argument of, and `needs` has
    the arguments that it adds to a value, as {"output_mode=tf_idf": "idf_weights"}. `on_ragged` says with which
    arguments it cannot be called on ragged tensors, None that it cannot at all. With `of_one_batch` all its tensors
    know their batch, or none does.
    """

    name: str
    fits: Fits
    gives: Gives
    options: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    call_options: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    more: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    calls: tuple[Literal["mask", "initial_state", "other"], ...] = ()
    takes: tuple[int, int] = (1, 1)
    pass_as: Literal["one", "list", "each", "either", "nested", "gapped", "apart"] = "one"
    masks: bool = False
    arrange: Arrange | None = None
    parts: tuple[str, ...] = ()
    needs: Mapping[str, str] = field(default_factory=dict)
    family: str = ""
    dtypes: tuple[str, ...] = ()
    shared: bool = True
    takes_trainable: bool = True
    takes_regularizer: bool = True
    only: Generation | None = None
    weight: int = 1
    on_ragged: tuple[str, ...] | None = None
    of_one_batch: bool = False

    def listed(self, count: int) -> bool:
        """Whether so many tensors are passed in a list."""
        return count > 1 if self.pass_as == "either" else self.pass_as in ("list", "gapped")

    def packed(self, tensors: tuple[Ref, ...]) -> tuple[Value, ...]:
        """What a call on these tensors is given before its keywords."""
        first, rest = tensors[0], tensors[1:]
        match self.pass_as:
            case "nested":
                return (Items((("main", first), ("rest", Seq(rest, "tuple")))),)
            case "gapped":
                return (Seq((first, None, *rest)),)
            case "apart":
                return (first, None, *rest)
        return (Seq(tensors),) if self.listed(len(tensors)) else tensors


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


def floats(low: int, high: int | None = None, *, masked: bool = True, known: bool = False) -> Fits:
    """Float tensors of a rank from `low` to `high`, their last dimension known. `known` wants every dimension."""
    top = low if high is None else high

    def fits(specs: Specs) -> bool:
        return all(
            low <= spec.rank <= top
            and spec.dtype in FLOATS
            and spec.shape[-1] is not None
            and (masked or not spec.mask)
            and (not known or None not in spec.shape)
            for spec in specs
        )

    return fits


def alike(fits: Fits) -> Fits:
    """Several tensors of one shape and dtype, each of which `fits`."""
    return lambda specs: (
        fits(specs) and all(spec.shape == specs[0].shape and spec.dtype == specs[0].dtype for spec in specs)
    )


def plain(fits: Fits) -> Fits:
    """Tensors of float32: the dtype that no layer has to cast."""
    return lambda specs: fits(specs) and all(spec.dtype == "float32" for spec in specs)


def none_told_sparse(fits: Fits) -> Fits:
    """Tensors that Keras 3 does not take for sparse, on which it fails to find out a shape by calling the layer."""
    return lambda specs: fits(specs) and not any(spec.told_sparse for spec in specs)


def same(specs: Specs, layer: Layer) -> Specs:
    """The first tensor's shape, and a mask if any of them has one."""
    return (Spec(specs[0].shape, computed(layer), any(spec.mask for spec in specs)),)


def last(size: str | int) -> Gives:
    """The last dimension becomes the argument `size`, or that number."""

    def gives(specs: Specs, layer: Layer) -> Specs:
        value = number(layer, size) if isinstance(size, str) else size
        return (replace(specs[0], shape=(*specs[0].shape[:-1], value), dtype=computed(layer)),)

    return gives


def number(layer: Layer, name: str, default: int | None = None) -> int:
    """An argument that is a whole number."""
    value = layer.arg(name, default)
    assert isinstance(value, int)
    return value


def shaped(rule: Callable[[Dims, Layer], Dims | None]) -> Gives:
    """A shape that follows from the first tensor's; the mask is gone."""

    def gives(specs: Specs, layer: Layer) -> Specs | None:
        shape = rule(specs[0].shape, layer)
        return None if shape is None else (Spec(shape, computed(layer)),)

    return gives


def computed(layer: Layer) -> str:
    """The dtype that a layer computes in, from its dtype or policy."""
    dtype: Value = layer.dtype
    if isinstance(dtype, Named):
        ((_, dtype),) = dtype.args or ((None, None),)
    return dtype.removeprefix("mixed_") if isinstance(dtype, str) else "float32"


NO_SENSE = (ArithmeticError, LookupError, AssertionError, TypeError, ValueError)
"""What a rule of the catalogue raises on arguments that it cannot read."""


TAKES_NONE = ("gapped", "apart")
"""How tensors are passed to a layer that does without any of them but the first."""


TAKES_SPARSE = ("Dense",)
"""The kinds whose layers are called on sparse tensors."""


def fill(specs: Specs, layer: Layer, kind: Kind) -> Specs | None:
    """What a layer of this kind gives for these tensors, None where it cannot take them."""
    if not kind.takes[0] <= len(specs) <= kind.takes[1] or not kind.fits(specs):
        return None
    if any(spec.absent for spec in (specs[:1] if kind.pass_as in TAKES_NONE else specs)):
        return None
    if any(spec.sparse for spec in specs) and (kind.name not in TAKES_SPARSE or layer.dtype is not None):
        return None
    if any(spec.ragged for spec in specs):
        return _of_ragged(specs, layer, kind)
    given = kind.gives(tuple(replace(spec, sparse=False) if spec.sparse else spec for spec in specs), layer)
    if given is None:
        return None
    if any(spec.told_sparse for spec in specs):
        given = tuple(replace(spec, told_sparse=True) for spec in given)  # as some layers, and most operations, hand on
    return tuple(
        replace(spec, mask=False) if spec.mask and not (kind.masks and spec.rank > 1) else spec for spec in given
    )


def _of_ragged(specs: Specs, layer: Layer, kind: Kind) -> Specs | None:
    """What a layer gives for ragged tensors, all of them without a mask: ragged is what has as many steps as they."""
    if kind.on_ragged is None or layer.dtype is not None or layer.arg("activity_regularizer") is not None:
        return None
    if not all(spec.ragged and not spec.mask for spec in specs) or any(key in kind.on_ragged for key, _ in layer.args):
        return None
    given = kind.gives(tuple(replace(spec, ragged=False) for spec in specs), layer)
    if given is None or any(spec.mask for spec in given):
        return None
    return tuple(replace(spec, ragged=spec.shape[:1] == (None,)) for spec in given)


def masked_by_call(specs: Specs, call_options: Mapping[str, Value]) -> Specs:
    """The tensors with the mask that the call itself gives the first: layers hand that on like its own."""
    return (replace(specs[0], mask=True), *specs[1:]) if "mask" in call_options else specs


TOO_FEW_STEPS = ((None,), (1,))
"""The steps that a recurrent layer is not unrolled over: it has to know them, and Keras 2.2 wants more than one."""

_OF_A_PLACE = ("PReLU", "LocallyConnected1D", "LocallyConnected2D", "ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D")
"""Kinds that have weights for each place, or hold on to the shape that they were built for, as a TimeDistributed does
in Keras 2.2."""


def same_weights(layer: Layer, specs: Specs, before: Specs, generation: Generation | None = None) -> bool:
    """Whether weights made for the tensors before serve these, and a layer that is unrolled its steps."""
    of_a_place = layer.kind in _OF_A_PLACE or (generation == "keras2" and layer.kind == "TimeDistributed")
    if layer.arg("unroll") is True and specs[0].shape[:1] in TOO_FEW_STEPS:
        return False
    return all(
        (one.rank, one.shape[-1:], one.dtype) == (other.rank, other.shape[-1:], other.dtype)
        and (not of_a_place or one.shape == other.shape)
        for one, other in zip(specs, before, strict=False)
    )


def more_masks(specs: Specs, before: Specs) -> bool:
    """Whether some tensor has a mask where the one in its place before had none."""
    return any(one.mask > other.mask for one, other in zip(specs, before, strict=False))
