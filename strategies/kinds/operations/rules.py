"""What an operation is beside a layer, and the typing rules that operations share by their form."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from strategies.graph import Array, Function, Layer, Seq, Value
from strategies.kinds.kind import (
    IDS,
    LEFT_OUT,
    Arrange,
    Dims,
    Fits,
    Generation,
    Gives,
    Kind,
    Spec,
    Specs,
    alike,
    floats,
    listed,
    plain,
    tupled,
)

MOST = 4
"""No tensor that an operation gives has a higher rank."""
FEW = 6
"""Whole numbers below it are ids, which a layer may look up."""


@dataclass(frozen=True, slots=True)
class Operation(Kind):
    """A function of the framework, or an operator; its name is the function's.

    `leads` are the arguments that stand before its tensors, `names` what its tensors are called where their place does
    not say it. `of` says what each tensor is made first ("positive"), `then` what is done to the result ("first"), by
    the words that a dialect has for it.
    """

    leads: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    of: tuple[str, ...] = ()
    then: tuple[str, ...] = ()


FLOAT = plain(floats(1, 3))
"""Numbers of any rank, in float32: what every function computes in."""
ROWS = plain(floats(2, 3))
GRID = plain(floats(2, 3, known=True))
KNOWN = plain(floats(1, 3, known=True))
VECTOR = plain(floats(1, known=True))
MATRIX = plain(floats(2, known=True))
IMAGE = plain(floats(3, known=True))


def colours(specs: Specs) -> bool:
    """Images of red, green and blue."""
    return IMAGE(specs) and all(spec.shape[-1] == 3 for spec in specs)


def volume(specs: Specs) -> bool:
    """A grid of three dimensions, with channels."""
    return plain(floats(4, known=True))(specs)


def wholes(specs: Specs) -> bool:
    """Whole numbers."""
    return all(spec.dtype in IDS and 1 <= spec.rank <= 3 for spec in specs)


def ids(specs: Specs) -> bool:
    """Small whole numbers in a row, of a known length."""
    return wholes(specs) and all(spec.rank == 1 and not spec.large and spec.shape[0] is not None for spec in specs)


def truths(specs: Specs) -> bool:
    """What is true or false, or a number."""
    return all(spec.dtype in ("bool", "float32") and 1 <= spec.rank <= 3 for spec in specs)


def wide(fits: Fits, size: int = 2) -> Fits:
    """With so many places in the last dimension at least."""
    return lambda specs: fits(specs) and all((spec.shape[-1] or 0) >= size for spec in specs)


def even(fits: Fits) -> Fits:
    """With an even number of places in the last dimension."""
    return lambda specs: fits(specs) and all((spec.shape[-1] or 1) % 2 == 0 for spec in specs)


# -- what is given back


def kept(specs: Specs, layer: Layer) -> Specs:
    """The shape and the dtype of the first tensor."""
    return (Spec(specs[0].shape, specs[0].dtype, large=specs[0].dtype in IDS),)


def multiplied(specs: Specs, layer: Layer) -> Specs:
    """Likewise. Keras 3 takes a number for a sparse tensor, and so what it multiplies (ops/numpy.py, `Multiply`)."""
    return tuple(replace(spec, told_sparse=len(specs) == 1) for spec in kept(specs, layer))


def small(specs: Specs, layer: Layer) -> Specs:
    """As it is: no number grows."""
    return (Spec(specs[0].shape, specs[0].dtype, large=specs[0].large),)


def typed(dtype: str, *, large: bool = True) -> Gives:
    """The shape of the first tensor, and this dtype."""
    return lambda specs, layer: (Spec(specs[0].shape, dtype, large=large and dtype in IDS),)


def of_dtype(specs: Specs, layer: Layer) -> Specs:
    """The shape of the first tensor, and the dtype that is asked for."""
    dtype = layer.arg("dtype", specs[0].dtype)
    assert isinstance(dtype, str)
    return (Spec(specs[0].shape, dtype, large=dtype in IDS),)


def given(rule: Callable[[Dims, Layer], Dims | None], dtype: str = "", count: int = 1, *, large: bool = True) -> Gives:
    """So many tensors of a shape that follows from the first one's."""

    def gives(specs: Specs, layer: Layer) -> Specs | None:
        shape = rule(specs[0].shape, layer)
        if shape is None or len(shape) > MOST:
            return None
        found = dtype or specs[0].dtype
        return (Spec(shape, found, large=large and found in IDS),) * count

    return gives


def several(*rules: Gives) -> Gives:
    """What each of the rules says, one after the other."""

    def gives(specs: Specs, layer: Layer) -> Specs | None:
        parts = [rule(specs, layer) for rule in rules]
        if any(part is None for part in parts):
            return None
        return tuple(spec for part in parts if part is not None for spec in part)

    return gives


def place(shape: Dims, axis: Value) -> int | None:
    """The place of an axis, where the first is the batch; None where it is that one, or there is none."""
    if not isinstance(axis, int):
        return None
    found = axis - 1 if axis > 0 else len(shape) + axis
    return found if axis and 0 <= found < len(shape) else None


def places(shape: Dims, axes: Value) -> tuple[int, ...] | None:
    """The places of one axis or several."""
    found = [place(shape, axis) for axis in (axes.items if isinstance(axes, Seq) else (axes,))]
    if None in found or len(set(found)) < len(found):
        return None
    return tuple(each for each in found if each is not None)


def reduced(dtype: str = "", axis: str = "axis", *, large: bool = True) -> Gives:
    """Without some dimensions, or with 1 in their places."""

    def rule(shape: Dims, layer: Layer) -> Dims | None:
        gone = places(shape, layer.arg(axis, -1))
        if gone is None:
            return None
        keep = layer.arg("keepdims") is True
        return tuple(1 if at in gone else size for at, size in enumerate(shape) if keep or at not in gone)

    return given(rule, dtype, large=large)


def chosen(dtype: str = "int32") -> Gives:
    """The place of a number along an axis: small, where the axis is short."""

    def gives(specs: Specs, layer: Layer) -> Specs | None:
        at = place(specs[0].shape, layer.arg("axis", -1))
        size = None if at is None else specs[0].shape[at]
        return reduced(dtype, large=size is None or size > FEW)(specs, layer)

    return gives


def along(rule: Callable[[int | None, Layer], int | None]) -> Gives:
    """Another size along one axis."""

    def shape_of(shape: Dims, layer: Layer) -> Dims | None:
        at = place(shape, layer.arg("axis", -1))
        if at is None:
            return None
        size = rule(shape[at], layer)
        return None if size is not None and size < 1 else (*shape[:at], size, *shape[at + 1 :])

    return given(shape_of)


def on_axis(gives: Gives) -> Gives:
    """What the rule says, where there is such an axis."""
    return lambda specs, layer: None if places(specs[0].shape, layer.arg("axis", -1)) is None else gives(specs, layer)


# -- arguments that suit the tensors


Suits = Callable[[Spec, Value], Value]
"""An argument that suits a tensor, for what was drawn; `NO` where there is none."""
NO = "no"


def suiting(**rules: Suits) -> Arrange:
    """Arguments that follow from the first tensor and from what was drawn for them."""

    def arrange(specs: Specs, drawn: Mapping[str, Value]) -> dict[str, Value] | None:
        args = dict(drawn)
        for key, rule in rules.items():
            if args.get(key, LEFT_OUT) != LEFT_OUT:
                args[key] = rule(specs[0], args[key])
                if args[key] == NO:
                    return None
        return args

    return arrange


def beside(*names: str) -> Arrange:
    """These arguments stand for a second tensor: where there is one, there are none."""

    def arrange(specs: Specs, drawn: Mapping[str, Value]) -> dict[str, Value] | None:
        if len(specs) == 1:
            return dict(drawn)
        return {key: LEFT_OUT if key in names else value for key, value in drawn.items()}

    return arrange


def second(gives: Gives, *names: str) -> Gives:
    """What the rule says, where there is a second tensor or an argument for it; an array has the first one's dtype."""

    def checked(specs: Specs, layer: Layer) -> Specs | None:
        here = [value for value in map(layer.arg, names) if value is not None]
        if (len(specs) == 1) != bool(here):
            return None
        if any(isinstance(value, Array) and value.dtype != specs[0].dtype for value in here):
            return None
        return gives(specs, layer)

    return checked


def body(text: str) -> Function:
    """A function that is written as it stands in the catalogue."""
    return Function("body", (text,))


def operation(
    name: str,
    gives: Gives = kept,
    fits: Fits = FLOAT,
    takes: int | tuple[int, int] = 1,
    *,
    leads: tuple[str, ...] = (),
    names: tuple[str, ...] = (),
    of: tuple[str, ...] = (),
    then: tuple[str, ...] = (),
    in_list: bool = False,
    arrange: Arrange | None = None,
    only: Generation | None = "keras",
    weight: int = 1,
    of_one_batch: bool = False,
    **options: tuple[Value, ...],
) -> Operation:
    """One line of the table."""
    return Operation(
        name,
        fits=alike(fits),
        gives=typed("float32") if "mean" in then else gives,
        options=options,
        takes=(takes, takes) if isinstance(takes, int) else takes,
        pass_as="list" if in_list else "each",
        arrange=arrange,
        shared=False,
        only=only,
        weight=weight,
        of_one_batch=of_one_batch,
        leads=leads,
        names=names,
        of=of,
        then=then,
    )


def each(names: str, like: Callable[[str], Operation]) -> Iterator[Operation]:
    """An operation for each name."""
    return (like(name) for name in names.split())


def prefixed(prefix: str, kinds: tuple[Operation, ...]) -> tuple[Operation, ...]:
    """The same, in a module of the framework."""
    return tuple(replace(kind, name=prefix + kind.name) for kind in kinds)


AXES: tuple[Value, ...] = (-1, 1, tupled(1, -1), listed(1))
AXIS: tuple[Value, ...] = (-1, 1)
FLAG: tuple[Value, ...] = (LEFT_OUT, True)
