"""The forms in which a function or an object is given, for all that takes one: as source text.

`<double>` in a value stands for a name, and its definition in `DEFINITIONS` is put above the model.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from .values import split, table

REGISTERED = "@keras.saving.register_keras_serializable()\n"


class Sort(NamedTuple):
    """A sort of function: what it takes and gives, in which `by` is a number, and the class of such objects.

    `name` is that of a registered function, `namesake` that of one of Keras, `shared` an object of Keras.
    """

    name: str
    takes: str
    gives: str
    base: str
    method: str
    namesake: str
    shared: str = ""


SORTS: Mapping[str, Sort] = {
    kind: Sort(*split(row))
    for kind, row in table("""
        activation: double | x | x * {by} | layers.Layer | call | relu | layers.ReLU(negative_slope=0.5)
        initializer: halves | shape, dtype=None | ops.ones(shape, dtype=dtype) / {by} | keras.initializers.Initializer
            | __call__ | ones | keras.initializers.RandomUniform(0.25, 0.75)
        regularizer: magnitude | x | ops.mean(ops.abs(x)) * {by} | keras.regularizers.Regularizer | __call__ | l1
            | <Magnitude>(2.0)
        constraint: halved | w | ops.abs(w) / {by} | keras.constraints.Constraint | __call__ | non_neg
            | keras.constraints.MaxNorm(0.5)
        loss: error | y_true, y_pred | ops.mean(ops.abs(y_true - y_pred), axis=-1) * {by} | keras.losses.Loss | call
            | mse
        metric: error | y_true, y_pred | ops.mean(ops.abs(y_true - y_pred), axis=-1) * {by} | keras.metrics.Mean
            | update_state | mse
    """).items()
}
_WITH_OPTIONS = ("layers.Layer", "keras.losses.Loss", "keras.metrics.Mean")

_METHOD = """\
class <{own}>:
    def __init__(self, by):
        self.by = by

    def {called}(self, {takes}):
        return {gives}
"""
_CLASS = """\
class <{own}>({base}):
    def __init__(self, by{more}):
        {first}self.by = by

    def {method}(self, {takes}):
        return {gives}

    def get_config(self):
        return {{{config}"by": self.by}}
"""


def _function(name: str, takes: str, gives: str) -> str:
    return f"def <{name}>({takes}):\n    return {gives}\n"


def _class_of(sort: Sort) -> str:
    options = sort.base in _WITH_OPTIONS
    gives, takes = sort.gives.format(by="self.by"), sort.takes
    if sort.method == "update_state":
        gives, takes = f"super().update_state({gives}, sample_weight)", f"{takes}, sample_weight=None"
    first = "super().__init__(**kwargs)\n        " if options else ""
    return _CLASS.format(
        own=sort.name.title() if sort.method != "update_state" else "MeanError",
        base=sort.base,
        more=", **kwargs" if options else "",
        first=first + ("self.built = True\n        " if sort.base == "layers.Layer" else ""),
        method=sort.method,
        takes=takes,
        gives=gives,
        config="**super().get_config(), " if options else "",
    )


def _forms(kind: str, sort: Sort) -> tuple[dict[str, str], dict[str, str]]:
    """The values of a sort, by their forms, and the definitions that they need."""
    name, takes = sort.name, sort.takes
    gives = sort.gives.format(by="2.0")
    by, of_self = sort.gives.format(by="by"), sort.gives.format(by="self.by")
    own = "MeanError" if kind == "metric" else name.title()
    factor = f"{name.title()}Factor"
    values = {
        "registered": f"<{name}>",
        "named": f"<{name}_named>",
        "lambda": f"lambda {takes}: {gives}",
        "namesake": f"<{sort.namesake}>",
        "partial": f"functools.partial(<{name}_by>, by=2.0)",
        "method": f"<{factor}>(2.0).apply",
        "class": f"<{own}>(2.0)",
        "variable": f"<{name}_times>(keras.Variable(2.0))",
    }
    closure = f"def <{name}_times>(by):\n    def times({takes}):\n        return {by}\n\n    return times\n"
    definitions = {
        name: REGISTERED + _function(name, takes, gives),
        f"{name}_named": _function(f"{name}_named", takes, gives),
        sort.namesake: _function(sort.namesake, takes, gives),
        f"{name}_by": _function(f"{name}_by", f"{takes}, *, by", by),
        factor: _METHOD.format(own=factor, called="apply", takes=takes, gives=of_self),
        own: REGISTERED + _class_of(sort),
        f"{name}_times": closure,
    }
    if sort.shared:
        values["shared"] = f"<shared_{kind}>"
        definitions[f"shared_{kind}"] = f"<shared_{kind}> = {sort.shared}\n"
        unregistered = f"Own{own}"
        values["unregistered class"] = f"<{unregistered}>(2.0)"
        definitions[unregistered] = _class_of(sort).replace(f"<{own}>", f"<{unregistered}>")
    return values, definitions


_FURTHER: Mapping[str, Mapping[str, str]] = {
    "activation": {
        "of ops": "ops.gelu",
        "of ops alone": "ops.square",
        "partial of Keras": "functools.partial(keras.activations.elu, alpha=0.5)",
    },
    "initializer": {
        "of ops": "ops.ones",
        "of random": "keras.random.uniform",
        "seed generator": "keras.initializers.RandomUniform(0.25, 0.75, seed=keras.random.SeedGenerator(3))",
        "array": "np.arange(1, 5) / 2",
    },
    "regularizer": {"of ops": "ops.logsumexp"},
    "constraint": {"of ops": "ops.abs"},
}
_BOTH = {kind: _forms(kind, sort) for kind, sort in SORTS.items()}
FORMS: Mapping[str, Mapping[str, str]] = {
    kind: {**values, **_FURTHER.get(kind, {})} for kind, (values, _) in _BOTH.items()
}
"""The values of each sort by their forms, the simplest first."""

_PRECISE = """\
@keras.saving.register_keras_serializable()
class <Precise>(keras.DTypePolicy):
    def __init__(self, by, **kwargs):
        super().__init__(**kwargs)
        self.by = by

    def convert_input(self, x, autocast, dtype):
        return super().convert_input(x, autocast or self.by > 1.0, dtype)

    def get_config(self):
        return {**super().get_config(), "by": self.by}
"""
DEFINITIONS: dict[str, str] = {
    **{name: text for _, definitions in _BOTH.values() for name, text in definitions.items()},
    "Precise": _PRECISE,
}
"""The definition of each word in angle brackets."""


def sort_of(argument: str) -> str:
    """The sort of function that an argument of a layer takes, "" for none."""
    ends = (sort for sort in ("activation", "initializer", "regularizer", "constraint"))
    return next((sort for sort in ends if argument == sort or argument.endswith(f"_{sort}")), "")
