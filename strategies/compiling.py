"""What a model is compiled with: the values of each argument, for the model and by output."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from strategies.graph import Function, Graph, Items, Named, Seq, Value, refs
from strategies.kinds import LEFT_OUT

Values = tuple[Value, ...]


def made(path: str, **args: Value) -> Named:
    """Something of Keras that is made with arguments."""
    return Named(path, tuple(args.items()))


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
)
_SEVERAL: Mapping[str, Values] = {
    "loss": _LOSSES,
    "loss_weights": (0.5,),
    "metrics": tuple(Seq((each,)) for each in _METRICS),
}


def compiled(graph: Graph, kind: str | None) -> dict[str, Values]:
    """The arguments of `compile`; for a model of several outputs, some of them by output as well."""
    args: dict[str, Values] = {
        "optimizer": _OPTIMIZERS,
        "loss": (LEFT_OUT, *_LOSSES),
        "loss_weights": (LEFT_OUT, 0.5),
        "metrics": (LEFT_OUT, *_SEVERAL["metrics"]),
        "weighted_metrics": (LEFT_OUT, Seq(("mse",))),
        "run_eagerly": (LEFT_OUT, True),
        "steps_per_execution": (LEFT_OUT, 2),
        "jit_compile": (LEFT_OUT, False, True),
    }
    for name, values in _SEVERAL.items():
        args[name] += tuple(each for value in values for each in _by_output(graph, value, values[0]))
    return args


def _by_output(graph: Graph, value: Value, other: Value) -> Iterator[Value]:
    """The value for the first output, another for the others."""
    count = len(list(refs(graph.gives)))
    match graph.gives:
        case Seq(items=items) if len(items) == count > 1:
            yield Seq((value, *(other for _ in items[1:])))
        case Items(items=pairs) if len(pairs) == count > 1:
            yield Items(((pairs[0][0], value), *((key, other) for key, _ in pairs[1:])))


VALUES = (*_OPTIMIZERS, *_LOSSES, *_METRICS)
"""Every optimizer, loss and metric."""
