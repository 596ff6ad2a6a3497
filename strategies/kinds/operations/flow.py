"""Control flow: operations that are given functions."""

from __future__ import annotations

from strategies.graph import Array, Function, Value
from strategies.kinds.kind import Spec, listed
from strategies.kinds.operations.rules import FLAG, KNOWN, NO, body, kept, on_axis, operation, suiting

BODIES = (
    "lambda v: v + 1.0",
    "lambda v: 0.5 * v",
    "lambda v: ops.max(v) < 3.0",
    "lambda i, v: v + 1.0",
    "lambda i, v: 0.5 * v",
    "lambda carry, v: (carry + v, carry + v)",
    "lambda a, b: a + b",
    "lambda a, b: ops.maximum(a, b)",
    "lambda: ops.ones((1,))",
    "lambda: ops.zeros((1,))",
    "lambda v: keras.random.dropout(v, 0.5, seed=7)",
    "lambda v: v + keras.random.normal(ops.shape(v), seed=7)",
)
"""What stands as a function in the catalogue, with the names of Keras 3."""

_ON_EACH: tuple[Value, ...] = (
    Function("lambda", ("x * 2.0",)),
    Function("named", ("x + 1.0",)),
    Function("closure", ("x * 2.0",)),
    Function("partial", ("x * 2.0",)),
    Function("module", ("x * 2.0",)),
    Function("method", ("x * 2.0",)),
)


def _nothing_yet(spec: Spec, drawn: Value) -> Value:
    return NO if None in spec.shape else Array(tuple(size or 1 for size in spec.shape))


KINDS = (
    operation("map", leads=("f",), f=(*_ON_EACH, *map(body, BODIES[-2:]))),
    operation("vectorized_map", leads=("function",), function=_ON_EACH),
    operation(
        "cond",
        of=("any",),
        then=("mean",),
        true_fn=(body("lambda: ops.ones((1,))"),),
        false_fn=(body("lambda: ops.zeros((1,))"),),
    ),
    operation(
        "switch",
        leads=("index", "branches"),
        index=(1, 0),
        branches=(listed(body("lambda v: v + 1.0"), body("lambda v: 0.5 * v")),),
    ),
    operation(
        "while_loop",
        leads=("cond", "body"),
        cond=(body("lambda v: ops.max(v) < 3.0"),),
        body=(body("lambda v: v + 1.0"),),
        maximum_iterations=(3, 2),
    ),
    operation(
        "fori_loop",
        leads=("lower", "upper", "body_fun"),
        lower=(0, 1),
        upper=(3,),
        body_fun=(body("lambda i, v: v + 1.0"), body("lambda i, v: 0.5 * v")),
    ),
    operation(
        "scan",
        fits=KNOWN,
        leads=("f", "init"),
        then=("second",),
        arrange=suiting(init=_nothing_yet),
        f=(body("lambda carry, v: (carry + v, carry + v)"),),
        init=("each",),
        reverse=FLAG,
    ),
    operation(
        "associative_scan",
        on_axis(kept),
        KNOWN,
        leads=("f",),
        f=(body("lambda a, b: a + b"), body("lambda a, b: ops.maximum(a, b)")),
        reverse=FLAG,
        axis=(1, -1),
    ),
)
