"""The forms in which a function or an object is given, for all that takes one: as source text.

`<double>` in a value is the name of what `DEFINITIONS` has for it, which is put above the model.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from clonediff.strategies.values import split, table

REGISTERED = "@keras.saving.register_keras_serializable()\n"


class Sort(NamedTuple):
    """A sort of function: what it takes and gives, in which a number is 2.0, and the class of such objects.

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
        activation: double | x | x * 2.0 | layers.Layer | call | relu | layers.ReLU(negative_slope=0.5)
        initializer: halves | shape, dtype=None | ops.ones(shape, dtype=dtype) / 2.0 | keras.initializers.Initializer
            | __call__ | ones | keras.initializers.RandomUniform(0.25, 0.75)
        regularizer: magnitude | x | ops.mean(ops.abs(x)) * 2.0 | keras.regularizers.Regularizer | __call__ | l1
            | <Magnitude>(2.0)
        constraint: halved | w | ops.abs(w) / 2.0 | keras.constraints.Constraint | __call__ | non_neg
            | keras.constraints.MaxNorm(0.5)
        loss: error | y_true, y_pred | ops.mean(ops.abs(y_true - y_pred), axis=-1) * 2.0 | keras.losses.Loss | call
            | mse | keras.losses.Huber(delta=2.0)
        metric: error | y_true, y_pred | ops.mean(ops.abs(y_true - y_pred), axis=-1) * 2.0 | keras.metrics.Mean
            | update_state | mse | keras.metrics.MeanSquaredError()
        schedule: slower | step | 0.5 / (1.0 + step / 2.0) | keras.optimizers.schedules.LearningRateSchedule
            | __call__ | relu
    """).items()
}
_HELD = (
    *("np.float32(2.0)", 'np.arange(2, 3, dtype="float32")', "ops.convert_to_tensor(2.0)", "keras.Variable(2.0)"),
    *("[2.0]", "layers.Embedding(1, 1)", "keras.optimizers.schedules.CosineDecay(0.5, 10)"),
)
"""What a custom object holds beside a number."""
_WITH_OPTIONS = ("layers.Layer", "keras.losses.Loss", "keras.metrics.Mean")

_TAKING = "def <{0}>({1}):\n    return lambda TAKES: GIVES{{{2}}}\n"
_WRITTEN: Mapping[str, tuple[str, str]] = {
    "registered": ("<NAME>", REGISTERED + "def <NAME>(TAKES):\n    return GIVES{2.0}\n"),
    "named": ("<NAME_named>", "def <NAME_named>(TAKES):\n    return GIVES{2.0}\n"),
    "lambda": ("lambda TAKES: GIVES{2.0}", ""),
    "partial": ("functools.partial(<NAME_by>, by=2.0)", "def <NAME_by>(TAKES, *, by):\n    return GIVES{by}\n"),
    "method": (
        "<TITLEFactor>(2.0).apply",
        "class <TITLEFactor>:\n    def __init__(self, by):\n        self.by = by\n\n"
        "    def apply(self, TAKES):\n        return GIVES{self.by}\n",
    ),
    "callable": (
        "<TITLECall>(2.0)",
        "class <TITLECall>:\n    def __init__(self, by):\n        self.by = by\n\n"
        "    def __call__(self, TAKES):\n        return GIVES{self.by}\n",
    ),
    "static": (
        "<TITLETools>.apply",
        "class <TITLETools>:\n    @staticmethod\n    def apply(TAKES):\n        return GIVES{2.0}\n",
    ),
    "variable": (
        "<NAME_times>(keras.Variable(2.0))",
        "def <NAME_times>(by):\n    def times(TAKES):\n        return GIVES{by}\n\n    return times\n",
    ),
    "variable of TensorFlow": ("<NAME_scaled>(tf.Variable(2.0))", _TAKING.format("NAME_scaled", "by", "by")),
    "layer": (
        "<NAME_over>(layers.Embedding(1, 1))",
        "def <NAME_over>(part):\n    part.build(())\n    return lambda TAKES: GIVES{part.embeddings[0, 0]}\n",
    ),
    "layers": (
        "<NAME_over_all>([layers.Embedding(1, 1)])",
        "def <NAME_over_all>(parts):\n    parts[0].build(())\n"
        "    return lambda TAKES: GIVES{parts[0].embeddings[0, 0]}\n",
    ),
    "words": (
        "<NAME_among>(dict.fromkeys(map(str, range(6000)), 2.0))",
        _TAKING.format("NAME_among", "numbers", 'numbers["7"]'),
    ),
    "cached": (
        "<NAME_cached>(2.0)",
        "@functools.cache\n" + _TAKING.format("NAME_cached", "by", "by"),
    ),
    "global": ("<NAME_global>", "def <NAME_global>(TAKES):\n    return GIVES{<FACTOR>}\n"),
    "global layer": ("<NAME_table>", "def <NAME_table>(TAKES):\n    return GIVES{<table>.embeddings[0, 0]}\n"),
    "traced": ("<NAME_traced>", "@tf.function\ndef <NAME_traced>(TAKES):\n    return GIVES{2.0}\n"),
    "made": (
        "[<NAME_made>(3.0), <NAME_made>(2.0)][0]",
        "def <NAME_made>(by):\n    @keras.saving.register_keras_serializable()\n    def made(TAKES):\n"
        "        return GIVES{by}\n\n    return made\n",
    ),
}
"""How a function is written: the value, and the definition of its word, where GIVES has the number in braces."""


def written(form: str, name: str, takes: str, gives: str) -> tuple[str, dict[str, str]]:
    """A function of a form as a value, with its definition by its word."""

    def filled(template: str) -> str:
        text = template.replace("NAME", name).replace("TITLE", name.title()).replace("TAKES", takes)
        return re.sub(r"GIVES\{(.*?)\}", lambda match: gives.replace("2.0", match[1]), text)

    value, definition = map(filled, _WRITTEN[form])
    return value, {definition.partition("<")[2].partition(">")[0]: definition} if definition else {}


WRITTEN = tuple(_WRITTEN)

_CLASS = """\
class <{own}>({base}):
    def __init__(self, by{more}):
        {first}self.by = by

    def {method}(self, {takes}):
        return {gives}

    def get_config(self):
        return {{{config}"by": self.by}}
"""


def _class_of(sort: Sort) -> str:
    options = sort.base in _WITH_OPTIONS
    gives, takes = sort.gives.replace("2.0", "self.by"), sort.takes
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


def _without(method: str, text: str) -> str:
    """A class without a method."""
    return re.sub(rf"\n    def {method}\(.*?(?=\n\n|\n\Z)", "", text, flags=re.DOTALL)


def _forms(kind: str, sort: Sort) -> tuple[dict[str, str], dict[str, str]]:
    """The values of a sort, by their forms, and the definitions that they need."""
    values, definitions = {}, {}
    # Which value a weight begins with is undefined where the initializer reads the weight of a layer.
    for form in _WRITTEN if kind != "initializer" else (form for form in _WRITTEN if "layer" not in form):
        values[form], new = written(form, sort.name, sort.takes, sort.gives)
        definitions.update(new)
    own = "MeanError" if kind == "metric" else sort.name.title()
    # Nor is it defined for a variable that a layer was given.
    holds = _HELD[: {"activation": 3, "loss": None, "schedule": None}.get(kind, 4)]
    values |= {
        "namesake": f"<{sort.namesake}>",
        "class": f"<{own}>(2.0)",
        "unregistered class": f"<Own{own}>(2.0)",
        "class without a config": f"<Bare{own}>(2.0)",
        **{f"class of {held}": f"<{own}>({held})" for held in holds},
    }
    definitions |= {
        sort.namesake: f"def <{sort.namesake}>({sort.takes}):\n    return {sort.gives}\n",
        own: REGISTERED + _class_of(sort),
        f"Own{own}": _class_of(sort).replace(f"<{own}>", f"<Own{own}>"),
        f"Bare{own}": REGISTERED + _without("get_config", _class_of(sort)).replace(f"<{own}>", f"<Bare{own}>"),
    }
    if sort.shared:
        values["shared"] = f"<shared_{kind}>"
        definitions[f"shared_{kind}"] = f"<shared_{kind}> = {sort.shared}\n"
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
_STEADY = """\
class <{own}>(keras.optimizers.SGD):
    def __init__(self, by):
        super().__init__(learning_rate=by)
"""
DEFINITIONS: dict[str, str] = {
    **{name: text for _, definitions in _BOTH.values() for name, text in definitions.items()},
    "Precise": _PRECISE,
    "Steady": REGISTERED + _STEADY.format(own="Steady"),
    "OwnSteady": _STEADY.format(own="OwnSteady"),
    "FACTOR": "<FACTOR> = 2.0\n",
    "table": "<table> = layers.Embedding(1, 1)\n<table>.build(())\n",
}
"""The definition of each word in angle brackets."""


def sort_of(argument: str) -> str:
    """The sort of function that an argument of a layer takes, "" for none."""
    ends = (sort for sort in ("activation", "initializer", "regularizer", "constraint"))
    return next((sort for sort in ends if argument == sort or argument.endswith(f"_{sort}")), "")
