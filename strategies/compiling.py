"""What a model is compiled with: the values of each argument, for the model and by output."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clonediff.strategies.graph import Function, Graph, Items, Named, Ref, Seq, Value, refs
from clonediff.strategies.kinds import LEFT_OUT
from clonediff.strategies.kinds.arguments import made

Values = tuple[Value, ...]


_OPTIMIZERS: Values = (
    LEFT_OUT,
    "sgd",
    made("optimizers.SGD", learning_rate=0.5, momentum=0.25),
    made("optimizers.Adam", clipnorm=1.0, name="mine"),
    made(
        "optimizers.Adam",
        learning_rate=made(
            "optimizers.schedules.ExponentialDecay", initial_learning_rate=0.5, decay_steps=10, decay_rate=0.5
        ),
    ),
    made("optimizers.SGD", learning_rate=Function("rate lambda", ("0.5",))),
)
_LOSSES: Values = (
    "mse",
    Named("losses.mean_absolute_error"),
    made("losses.MeanSquaredError", reduction="sum"),
    made("losses.Huber", delta=2.0),
    made("losses.CosineSimilarity", axis=1),
    made("losses.BinaryCrossentropy", from_logits=True),
    Function("error lambda", ("y_true - y_pred",)),
    Function("error named", ("y_true - y_pred",)),
    Function("loss class", ("y_true - y_pred",)),
)
_METRICS: Values = (
    "mae",
    made("metrics.BinaryAccuracy", threshold=0.25),
    made("metrics.CosineSimilarity", axis=1),
    made("metrics.MeanAbsoluteError", name="error"),
    Function("error named", ("y_true - y_pred",)),
    Function("error lambda", ("y_true - y_pred",)),
    Function("metric class", ("y_true - y_pred",)),
)
_SEVERAL: Mapping[str, Values] = {
    "loss": _LOSSES,
    "loss_weights": (0.5,),
    "metrics": tuple(Seq((each,)) for each in _METRICS),
    "weighted_metrics": tuple(Seq((each,)) for each in ("mse", *_METRICS[-2:])),
}


def compiled(graph: Graph, kind: str | None) -> dict[str, Values]:
    """The arguments of `compile`; for a model of several outputs, some of them by output as well."""
    args: dict[str, Values] = {
        "optimizer": _OPTIMIZERS,
        "loss": (LEFT_OUT, *_LOSSES),
        "loss_weights": (LEFT_OUT, 0.5),
        "metrics": (LEFT_OUT, *_SEVERAL["metrics"]),
        "weighted_metrics": (LEFT_OUT, *_SEVERAL["weighted_metrics"]),
        "run_eagerly": (LEFT_OUT, True),
        "steps_per_execution": (LEFT_OUT, 2),
        "jit_compile": (LEFT_OUT, False, True),
    }
    for name, values in _SEVERAL.items():
        args[name] += tuple(each for value in values for each in _by_output(graph, value, values[0]))
    return args


def _by_output(graph: Graph, value: Value, other: Value) -> Iterator[Value]:
    """The value for the first output, another for the others, nested as they are; of a dict, for the first alone."""
    if len(list(refs(graph.gives))) > 1:
        yield nested_like(graph.gives, iter((value,)), other)
    if isinstance(graph.gives, Items) and isinstance(graph.gives.items[0][1], Ref):
        yield Items(((graph.gives.items[0][0], value),))


def nested_like(gives: Value, first: Iterator[Value], other: Value) -> Value:
    """What is nested as the outputs are, with what comes `first` for as many of them, and another for the others."""
    match gives:
        case Seq(items=items, form=form):
            return Seq(tuple(nested_like(each, first, other) for each in items), form)
        case Items(items=pairs):
            return Items(tuple((key, nested_like(each, first, other)) for key, each in pairs))
    return next(first, other)


def by_output(gives: Value, value: Value) -> list[Value] | None:
    """What there is for each output in a value that is nested as they are; None where it is not."""
    found: list[Value] = []
    match gives, value:
        case Ref(), _:
            return [value]
        case Seq(items=outputs), Seq(items=values) if len(outputs) == len(values):
            pairs = list(zip(outputs, values, strict=True))
        case Items(items=outputs), Items(items=values) if [key for key, _ in outputs] == [key for key, _ in values]:
            pairs = [(output, each) for (_, output), (_, each) in zip(outputs, values, strict=True)]
        case _:
            return None
    for output, each in pairs:
        more = by_output(output, each)
        if more is None:
            return None
        found += more
    return found


VALUES = (*_OPTIMIZERS, *_LOSSES, *_METRICS)
"""Every optimizer, loss and metric."""
