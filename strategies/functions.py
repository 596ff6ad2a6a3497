"""The ways to pass a function or an object as an argument, as source text.

`<double>` in a value refers to the definition of that name in `DEFINITIONS`, which is written above the model.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from clonediff.strategies.values import parse_table, split_row

REGISTERED = "@keras.saving.register_keras_serializable()\n"


class Role(NamedTuple):
    """The role of an argument: its parameters, result, and Keras' class of such objects.

    A custom function has the `name`, or the `namesake`, which is that of a function of Keras. The result has the number
    2.0 in it, which the forms replace. `shared` is an object of Keras that two arguments may share.
    """

    name: str
    parameters: str
    result: str
    base: str
    method: str
    namesake: str
    shared: str = ""


ROLES: Mapping[str, Role] = {
    kind: Role(*split_row(row))
    for kind, row in parse_table("""
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
_ATTRIBUTE_VALUES = (
    *("np.float32(2.0)", 'np.arange(2, 3, dtype="float32")', "ops.convert_to_tensor(2.0)", "keras.Variable(2.0)"),
    *("[2.0]", "layers.Embedding(1, 1)", "keras.optimizers.schedules.CosineDecay(0.5, 10)"),
)
"""Attributes of a custom object, other than a number."""
_BASES_WITH_KWARGS = ("layers.Layer", "keras.losses.Loss", "keras.metrics.Mean")

_FACTORY = "def <{0}>({1}):\n    return lambda TAKES: GIVES{{{2}}}\n"
_FUNCTIONS: Mapping[str, tuple[str, str]] = {
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
    "variable of TensorFlow": ("<NAME_scaled>(tf.Variable(2.0))", _FACTORY.format("NAME_scaled", "by", "by")),
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
        _FACTORY.format("NAME_among", "numbers", 'numbers["7"]'),
    ),
    "cached": (
        "<NAME_cached>(2.0)",
        "@functools.cache\n" + _FACTORY.format("NAME_cached", "by", "by"),
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
"""Forms of functions: the value, and the definition that it needs. GIVES{by} is the result, with `by` for 2.0."""


def write_function(form: str, name: str, parameters: str, result: str) -> tuple[str, dict[str, str]]:
    """Return a function in a form: the value, and the definition that it needs."""

    def filled(template: str) -> str:
        text = template.replace("NAME", name).replace("TITLE", name.title()).replace("TAKES", parameters)
        return re.sub(r"GIVES\{(.*?)\}", lambda match: result.replace("2.0", match[1]), text)

    value, definition = map(filled, _FUNCTIONS[form])
    return value, {definition.partition("<")[2].partition(">")[0]: definition} if definition else {}


FUNCTION_FORMS = tuple(_FUNCTIONS)

_CLASS = """\
class <{name}>({role.base}):
    def __init__(self, by{more}):
        {first}self.by = by

    def {role.method}(self, {parameters}):
        return {result}
"""
_CONFIG = """\

    def get_config(self):
        return {{{config}"by": self.by}}
"""


def _class_of(role: Role, name: str, template: str = _CLASS + _CONFIG) -> str:
    """Return the definition of a custom class of a role."""
    options = role.base in _BASES_WITH_KWARGS
    result, parameters = role.result.replace("2.0", "self.by"), role.parameters
    if role.method == "update_state":
        result, parameters = f"super().update_state({result}, sample_weight)", f"{parameters}, sample_weight=None"
    first = "super().__init__(**kwargs)\n        " if options else ""
    return template.format(
        name=name,
        role=role,
        more=", **kwargs" if options else "",
        first=first + ("self.built = True\n        " if role.base == "layers.Layer" else ""),
        parameters=parameters,
        result=result,
        config="**super().get_config(), " if options else "",
    )


def _forms(kind: str, role: Role) -> tuple[dict[str, str], dict[str, str]]:
    """Return the values of a role, by form, and the definitions that they need."""
    values, definitions = {}, {}
    # If an initializer reads the weight of a layer, the initial value of a weight is undefined.
    for form in _FUNCTIONS if kind != "initializer" else (form for form in _FUNCTIONS if "layer" not in form):
        values[form], new = write_function(form, role.name, role.parameters, role.result)
        definitions.update(new)
    own = "MeanError" if kind == "metric" else role.name.title()
    # It is also undefined if a layer is passed a variable.
    holds = _ATTRIBUTE_VALUES[: {"activation": 3, "loss": None, "schedule": None}.get(kind, 4)]
    values |= {
        "namesake": f"<{role.namesake}>",
        "class": f"<{own}>(2.0)",
        "unregistered class": f"<Own{own}>(2.0)",
        "class without a config": f"<Bare{own}>(2.0)",
        **{f"class of {held}": f"<{own}>({held})" for held in holds},
    }
    definitions |= {
        role.namesake: f"def <{role.namesake}>({role.parameters}):\n    return {role.result}\n",
        own: REGISTERED + _class_of(role, own),
        f"Own{own}": _class_of(role, f"Own{own}"),
        f"Bare{own}": REGISTERED + _class_of(role, f"Bare{own}", _CLASS),
    }
    if role.shared:
        values["shared"] = f"<shared_{kind}>"
        definitions[f"shared_{kind}"] = f"<shared_{kind}> = {role.shared}\n"
    return values, definitions


_MORE_VALUES: Mapping[str, Mapping[str, str]] = {
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
_VALUES_AND_DEFINITIONS = {kind: _forms(kind, role) for kind, role in ROLES.items()}
FORMS: Mapping[str, Mapping[str, str]] = {
    kind: {**values, **_MORE_VALUES.get(kind, {})} for kind, (values, _) in _VALUES_AND_DEFINITIONS.items()
}
"""The values of each role by form, the simplest first."""

_CUSTOM_POLICY = """\
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
_CUSTOM_OPTIMIZER = """\
class <{own}>(keras.optimizers.SGD):
    def __init__(self, by):
        super().__init__(learning_rate=by)
"""
DEFINITIONS: dict[str, str] = {
    **{name: text for _, definitions in _VALUES_AND_DEFINITIONS.values() for name, text in definitions.items()},
    "Precise": _CUSTOM_POLICY,
    "Steady": REGISTERED + _CUSTOM_OPTIMIZER.format(own="Steady"),
    "OwnSteady": _CUSTOM_OPTIMIZER.format(own="OwnSteady"),
    "FACTOR": "<FACTOR> = 2.0\n",
    "table": "<table> = layers.Embedding(1, 1)\n<table>.build(())\n",
}
"""The definition of each name in angle brackets."""


def role_of(argument: str) -> str:
    """Return the role of an argument of a layer, "" if it takes no function."""
    roles = ("activation", "initializer", "regularizer", "constraint")
    return next((role for role in roles if argument == role or argument.endswith(f"_{role}")), "")
