"""Ways to pass a function or an object as an argument, as source.

`<double>` in a value refers to the definition of that name in `DEFINITIONS`, which is written above the model.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from clonediff.strategies.values import parse_table, split_row

REGISTRATION = "@keras.saving.register_keras_serializable()\n"


class Role(NamedTuple):
    """An argument's role: parameters and result of its functions, Keras `base` of its objects.

    A custom function is called `name`, or `namesake`, which is also the name of a Keras function. `result` contains
    2.0, which each form replaces by its own factor. `shared` is an object of Keras that two arguments may share.
    """

    name: str
    parameters: str
    result: str
    base: str
    method: str
    namesake: str
    shared: str = ""


ROLES: Mapping[str, Role] = {
    role: Role(*split_row(row))
    for role, row in parse_table("""
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
"""Values, other than numbers, for the attribute of a custom object."""
_BASES_WITH_KWARGS = ("layers.Layer", "keras.losses.Loss", "keras.metrics.Mean")

_FACTORY = "def <{0}>({1}):\n    return lambda ARGS: RESULT{{{2}}}\n"
_FUNCTIONS: Mapping[str, tuple[str, str]] = {
    "registered": ("<NAME>", REGISTRATION + "def <NAME>(ARGS):\n    return RESULT{2.0}\n"),
    "named": ("<NAME_named>", "def <NAME_named>(ARGS):\n    return RESULT{2.0}\n"),
    "lambda": ("lambda ARGS: RESULT{2.0}", ""),
    "partial": ("functools.partial(<NAME_by>, by=2.0)", "def <NAME_by>(ARGS, *, by):\n    return RESULT{by}\n"),
    "method": (
        "<TITLEFactor>(2.0).apply",
        "class <TITLEFactor>:\n    def __init__(self, by):\n        self.by = by\n\n"
        "    def apply(self, ARGS):\n        return RESULT{self.by}\n",
    ),
    "callable": (
        "<TITLECall>(2.0)",
        "class <TITLECall>:\n    def __init__(self, by):\n        self.by = by\n\n"
        "    def __call__(self, ARGS):\n        return RESULT{self.by}\n",
    ),
    "static": (
        "<TITLETools>.apply",
        "class <TITLETools>:\n    @staticmethod\n    def apply(ARGS):\n        return RESULT{2.0}\n",
    ),
    "variable": (
        "<NAME_times>(keras.Variable(2.0))",
        "def <NAME_times>(by):\n    def times(ARGS):\n        return RESULT{by}\n\n    return times\n",
    ),
    "variable of TensorFlow": ("<NAME_scaled>(tf.Variable(2.0))", _FACTORY.format("NAME_scaled", "by", "by")),
    "layer": (
        "<NAME_over>(layers.Embedding(1, 1))",
        "def <NAME_over>(part):\n    part.build(())\n    return lambda ARGS: RESULT{part.embeddings[0, 0]}\n",
    ),
    "layers": (
        "<NAME_over_all>([layers.Embedding(1, 1)])",
        "def <NAME_over_all>(parts):\n    parts[0].build(())\n"
        "    return lambda ARGS: RESULT{parts[0].embeddings[0, 0]}\n",
    ),
    "big dict": (
        "<NAME_among>(dict.fromkeys(map(str, range(6000)), 2.0))",
        _FACTORY.format("NAME_among", "numbers", 'numbers["7"]'),
    ),
    "cached": ("<NAME_cached>(2.0)", "@functools.cache\n" + _FACTORY.format("NAME_cached", "by", "by")),
    "global": ("<NAME_global>", "def <NAME_global>(ARGS):\n    return RESULT{<FACTOR>}\n"),
    "global layer": ("<NAME_table>", "def <NAME_table>(ARGS):\n    return RESULT{<table>.embeddings[0, 0]}\n"),
    "traced": ("<NAME_traced>", "@tf.function\ndef <NAME_traced>(ARGS):\n    return RESULT{2.0}\n"),
    "registered twice": (
        "[<NAME_made>(3.0), <NAME_made>(2.0)][0]",
        "def <NAME_made>(by):\n    @keras.saving.register_keras_serializable()\n    def made(ARGS):\n"
        "        return RESULT{by}\n\n    return made\n",
    ),
}
"""The value and the definition of each form. ARGS are its parameters; RESULT{by} is its result, with `by` for 2.0."""


def write_function(form: str, name: str, parameters: str, result: str) -> tuple[str, dict[str, str]]:
    """Write a function in a form. Return its value, and the definition for it."""

    def fill(template: str) -> str:
        text = template.replace("NAME", name).replace("TITLE", name.title()).replace("ARGS", parameters)
        return re.sub(r"RESULT\{(.*?)\}", lambda match: result.replace("2.0", match[1]), text)

    value, definition = map(fill, _FUNCTIONS[form])
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


def _class_definition(role: Role, name: str, template: str = _CLASS + _CONFIG) -> str:
    takes_kwargs = role.base in _BASES_WITH_KWARGS
    result, parameters = role.result.replace("2.0", "self.by"), role.parameters
    if role.method == "update_state":
        result, parameters = f"super().update_state({result}, sample_weight)", f"{parameters}, sample_weight=None"
    first = "super().__init__(**kwargs)\n        " if takes_kwargs else ""
    return template.format(
        name=name,
        role=role,
        more=", **kwargs" if takes_kwargs else "",
        first=first + ("self.built = True\n        " if role.base == "layers.Layer" else ""),
        parameters=parameters,
        result=result,
        config="**super().get_config(), " if takes_kwargs else "",
    )


def _forms(role_name: str, role: Role) -> tuple[dict[str, str], dict[str, str]]:
    """The values of a role, by form, and their definitions."""
    values, definitions = {}, {}
    # An initializer that reads another layer's weight would leave an initial value undefined.
    for form in _FUNCTIONS if role_name != "initializer" else (form for form in _FUNCTIONS if "layer" not in form):
        values[form], form_definitions = write_function(form, role.name, role.parameters, role.result)
        definitions.update(form_definitions)
    class_name = "MeanError" if role_name == "metric" else role.name.title()
    # A custom activation is a layer: its variable's initial value is undefined, too.
    attribute_values = _ATTRIBUTE_VALUES[: {"activation": 3, "loss": None, "schedule": None}.get(role_name, 4)]
    values |= {
        "namesake": f"<{role.namesake}>",
        "class": f"<{class_name}>(2.0)",
        "unregistered class": f"<Own{class_name}>(2.0)",
        "class without a config": f"<Bare{class_name}>(2.0)",
        **{f"class of {attribute}": f"<{class_name}>({attribute})" for attribute in attribute_values},
    }
    definitions |= {
        role.namesake: f"def <{role.namesake}>({role.parameters}):\n    return {role.result}\n",
        class_name: REGISTRATION + _class_definition(role, class_name),
        f"Own{class_name}": _class_definition(role, f"Own{class_name}"),
        f"Bare{class_name}": REGISTRATION + _class_definition(role, f"Bare{class_name}", _CLASS),
    }
    if role.shared:
        values["shared"] = f"<shared_{role_name}>"
        definitions[f"shared_{role_name}"] = f"<shared_{role_name}> = {role.shared}\n"
    return values, definitions


_MORE_VALUES: Mapping[str, Mapping[str, str]] = {
    "activation": {
        "function of ops": "ops.gelu",
        "only in ops": "ops.square",
        "partial of Keras": "functools.partial(keras.activations.elu, alpha=0.5)",
    },
    "initializer": {
        "function of ops": "ops.ones",
        "function of random": "keras.random.uniform",
        "seed generator": "keras.initializers.RandomUniform(0.25, 0.75, seed=keras.random.SeedGenerator(3))",
        "array": "np.arange(1, 5) / 2",
    },
    "regularizer": {"function of ops": "ops.logsumexp"},
    "constraint": {"function of ops": "ops.abs"},
}
_VALUES_AND_DEFINITIONS = {name: _forms(name, role) for name, role in ROLES.items()}
FORMS: Mapping[str, Mapping[str, str]] = {
    name: {**values, **_MORE_VALUES.get(name, {})} for name, (values, _) in _VALUES_AND_DEFINITIONS.items()
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
class <{name}>(keras.optimizers.SGD):
    def __init__(self, by):
        super().__init__(learning_rate=by)
"""
DEFINITIONS: dict[str, str] = {
    **{name: text for _, definitions in _VALUES_AND_DEFINITIONS.values() for name, text in definitions.items()},
    "Precise": _CUSTOM_POLICY,
    "Steady": REGISTRATION + _CUSTOM_OPTIMIZER.format(name="Steady"),
    "OwnSteady": _CUSTOM_OPTIMIZER.format(name="OwnSteady"),
    "FACTOR": "<FACTOR> = 2.0\n",
    "table": "<table> = layers.Embedding(1, 1)\n<table>.build(())\n",
}
"""The definition of each name in angle brackets."""


def role_of(argument: str) -> str:
    """The role of a layer's argument; "" if it takes no function."""
    roles = ("activation", "initializer", "regularizer", "constraint")
    return next((role for role in roles if argument == role or argument.endswith(f"_{role}")), "")
