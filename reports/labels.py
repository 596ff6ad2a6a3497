"""Short texts for boxes: a layer's arguments, shapes, and how wide a text will be."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence

from clonediff.strategies.graph import Array, Call, Form, Function, Items, Made, Named, Ref, Seq, Value, refs


def arguments(args: Sequence[tuple[str, Value]], call: Call) -> list[str]:
    """A line for the arguments of a layer's constructor, and one for those of its call, without tensors."""
    made = ", ".join(f"{key}={worded(value)}" for key, value in args)
    called = ", ".join(f"{key}={worded(value)}" for key, value in call.kwargs if next(refs(value), None) is None)
    return [line for line in (made, f"called with {called}" if called else "") if line]


def worded(value: Value) -> str:
    """A value of a graph, as a person writes it."""
    match value:
        case Function(form=form, gives=gives):
            return f"{form}: {', '.join(gives)}"
        case Form(sort=sort, form=form):
            return f"{sort}: {form}"
        case Made(layer=layer):
            inner = ", ".join(worded(item) for _, item in layer.args)
            return f"{layer.kind}({inner})"
        case Named(path=path, args=args):
            name = path.rpartition(".")[2]
            return name if args is None else f"{name}({', '.join(f'{key}={worded(item)}' for key, item in args)})"
        case Seq(items=items, form=form):
            words = ", ".join(_some(items))
            return f"[{words}]" if form == "list" else f"({words},)" if len(items) == 1 else f"({words})"
        case Items(items=pairs):
            return f"{{{', '.join(f'{key}: {worded(item)}' for key, item in pairs[:_MOST])}}}"
        case Array(shape=dims):
            return f"array {shape(dims)}"
        case Ref(node=node):
            return f"tensor {node}"
        case str():
            return value
    return repr(value)


def shape(dims: Sequence[int | None]) -> str:
    """A shape as Python writes it."""
    return f"({', '.join(map(str, dims))}{',' if len(dims) == 1 else ''})"


def cut(text: str, most: int) -> str:
    """A text on one line, cut where it is longer than that."""
    line = " ".join(text[: 4 * most].split())
    return line if len(line) <= most else f"{line[: most - 1]}\u2026"


def width_of(text: str, *, bold: bool = False) -> float:
    """How wide a text will be at 12 pixels, a little more than most fonts need."""
    if text.isascii():
        return len(text) * (7.4 if bold else 6.6)
    wide = sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)
    return wide * (7.4 if bold else 6.6)


_MOST = 8


def _some(items: Sequence[Value]) -> Iterator[str]:
    yield from (worded(item) for item in items[:_MOST])
    if len(items) > _MOST:
        yield "\u2026"
