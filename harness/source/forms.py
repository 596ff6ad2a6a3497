"""A function or an object in each of its forms, as text: an expression, what is defined above the model, what follows.

Owns the text of each form of `clonediff.strategies.kinds.forms`, with the names of Keras 3. The number by which a
function multiplies is 2.0, or a parameter `by` in the forms that have one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from clonediff.harness.source.functions import REGISTERED
from clonediff.strategies.graph import Form, MalformedGraph
from clonediff.strategies.kinds.forms import FORMS


class WrittenForm(NamedTuple):
    """`expression` stands where the value is given, `definition` above the model, `then` after it is made."""

    expression: str
    definition: str = ""
    then: str = ""


class _Sort(NamedTuple):
    """What a function of a sort takes and gives, and the class that an object of the sort is of.

    One of Keras' functions has the `name`; `instance` is one of Keras' objects. What the method of a class takes and
    gives is said where it is something else.
    """

    takes: str
    gives: str
    wanted: str
    name: str
    base: str
    method: str
    instance: str = ""
    takes_in_class: str = ""
    gives_in_class: str = ""


_ERROR = "ops.mean(ops.abs(y_true - y_pred), axis=-1) * 2.0"
_WITH_OPTIONS = (
    *("layers.Layer", "keras.losses.Loss", "keras.metrics.Mean", "keras.optimizers.SGD"),
    "keras.DTypePolicy",
)
"""The classes whose constructors take options that their configs tell."""

_SORTS: Mapping[str, _Sort] = {
    "activation": _Sort("x", "x * 2.0", "double", "relu", "layers.Layer", "call", "layers.ReLU(negative_slope=0.5)"),
    "initializer": _Sort(
        "shape, dtype=None",
        "ops.ones(shape, dtype=dtype) / 2.0",
        "halves",
        "ones",
        "keras.initializers.Initializer",
        "__call__",
        "keras.initializers.RandomUniform(0.25, 0.75)",
    ),
    "regularizer": _Sort(
        "x",
        "ops.mean(ops.abs(x)) * 2.0",
        "magnitude",
        "l1",
        "keras.regularizers.Regularizer",
        "__call__",
        "keras.regularizers.L2(0.5)",
    ),
    "constraint": _Sort(
        "w",
        "ops.abs(w) / 2.0",
        "halved",
        "non_neg",
        "keras.constraints.Constraint",
        "__call__",
        "keras.constraints.MaxNorm(0.5)",
    ),
    "loss": _Sort("y_true, y_pred", _ERROR, "error", "mse", "keras.losses.Loss", "call"),
    "metric": _Sort(
        "y_true, y_pred",
        _ERROR,
        "error",
        "mse",
        "keras.metrics.Mean",
        "update_state",
        takes_in_class="y_true, y_pred, sample_weight=None",
        gives_in_class=f"super().update_state({_ERROR}, sample_weight)",
    ),
    "optimizer": _Sort(
        "gradient, variable, learning_rate",
        "super().update_step(gradient * 2.0, variable, learning_rate)",
        "steeper",
        "sgd",
        "keras.optimizers.SGD",
        "update_step",
    ),
    "schedule": _Sort(
        "step",
        '2.0 / (ops.cast(step, "float32") + 10.0)',
        "slower",
        "",
        "keras.optimizers.schedules.LearningRateSchedule",
        "__call__",
    ),
    "policy": _Sort(
        "x, autocast, dtype",
        "super().convert_input(x, autocast or 2.0 > 1.0, dtype)",
        "precise",
        "",
        "keras.DTypePolicy",
        "convert_input",
        'keras.DTypePolicy("mixed_bfloat16")',
    ),
}


class _Text(NamedTuple):
    """The parts of a form, with {own} for a name that is made of the `wanted` one, "" for that of the sort.

    What is within it has the name {inner}.
    """

    expression: str
    definition: str = ""
    wanted: str = ""
    by: str = "2.0"
    then: str = ""


_FUNCTION = "def {own}({takes}):\n    return {gives}\n"
_WITH_BY = "def {own}({takes}, *, by):\n    return {gives}\n"
_CLOSURE = """\
def {own}(by):
    def {inner}({takes}):
        return {gives}

    return {inner}
"""
_WITH_A_NUMBER = """\
class {own}:
    def __init__(self, by):
        self.by = by

    def {called}(self, {takes}):
        return {gives}
"""
_WITH_A_CONFIG = (
    _WITH_A_NUMBER
    + """\

    def get_config(self):
        return {{"by": self.by}}

    @classmethod
    def from_config(cls, config):
        return cls(**config)
"""
)
_CLASS = """\
class {own}({base}):
    def __init__(self, by{more}):
        {first}self.by = {kept}

    def {method}(self, {takes}):
        return {gives}

    def get_config(self):
        return {{{config}"by": self.by}}
"""
_VARIABLE = REGISTERED + _CLASS.replace("{own}", "{inner}").replace("{kept}", "by") + "\n\n{own} = {inner}(2.0)\n"


def _of_a_list(kept: str) -> _Text:
    return _Text("{own}([2.0])", REGISTERED + _CLASS.replace("{kept}", kept), "{class_name}", "self.by[0]")


_OF_ALL: Mapping[str, _Text] = {
    "registered": _Text("{own}", REGISTERED + _FUNCTION),
    "named": _Text("{own}", _FUNCTION),
    "namesake": _Text("{own}", _FUNCTION, "{name}"),
    "lambda": _Text("lambda {takes}: {gives}"),
    "keyword": _Text("{own}", "def {own}({takes}, *, by=2.0):\n    return {gives}\n", "", "by"),
    "closure": _Text("{own}(2.0)", _CLOSURE, "times", "by"),
    "variable": _Text("{own}(keras.Variable(2.0))", _CLOSURE, "times", "by"),
    "partial": _Text("functools.partial({own}, by=2.0)", _WITH_BY, "", "by"),
    "method": _Text("{own}(2.0).apply", _WITH_A_NUMBER.replace("{called}", "apply"), "Factor", "self.by"),
    "callable": _Text("{own}(2.0)", _WITH_A_NUMBER.replace("{called}", "__call__"), "Factor", "self.by"),
    "registered class": _Text("{own}(2.0)", REGISTERED + _CLASS.replace("{kept}", "by"), "{class_name}", "self.by"),
    "class": _Text("{own}(2.0)", _CLASS.replace("{kept}", "by"), "{class_name}", "self.by"),
    "keeps a list": _of_a_list("by"),
    "copies a list": _of_a_list("list(by)"),
    "empties a list": _of_a_list("[by.pop()]"),
    "callable class": _Text(
        "{own}(2.0)", REGISTERED + _WITH_A_CONFIG.replace("{called}", "__call__"), "Factor", "self.by"
    ),
    "shared": _Text("{own}", "{own} = {instance}\n", "shared_{low}"),
    "changed": _Text("{own}", _VARIABLE, "changed_{low}", "self.by", "{own}.by = 3.0"),
}
_OF_ONE: Mapping[tuple[str, str], _Text] = {
    ("activation", "of ops"): _Text("ops.silu"),
    ("activation", "of ops, other default"): _Text("ops.gelu"),
    ("activation", "of ops alone"): _Text("ops.square"),
    ("activation", "partial of Keras"): _Text("functools.partial(keras.activations.elu, alpha=0.5)"),
    ("activation", "config of a layer"): _Text(
        '{{"module": "keras.layers", "class_name": "ReLU", '
        '"config": {{"negative_slope": 0.5}}, "registered_name": None}}'
    ),
    ("initializer", "of ops"): _Text("ops.ones"),
    ("initializer", "of random"): _Text("keras.random.uniform"),
    ("initializer", "seed generator"): _Text(
        "keras.initializers.RandomUniform(0.25, 0.75, seed=keras.random.SeedGenerator(3))"
    ),
    ("initializer", "array"): _Text("np.arange(1, 5) / 2"),
    ("regularizer", "of ops"): _Text("ops.logsumexp"),
    # One of tf_keras keeps its numbers as arrays, which are not as before where they are read back.
    ("regularizer", "shared"): _Text("{own}", _VARIABLE, "shared_{low}", "self.by"),
    ("constraint", "of ops"): _Text("ops.abs"),
}


def write_form(form: Form, name: Callable[[str], str]) -> WrittenForm:
    """The text of a value in a form. `name` makes a name that nothing else in the script has."""
    if form.form not in FORMS.get(form.sort, ()):
        raise MalformedGraph(f"value: there is no form {form.form!r} of the sort {form.sort!r}")
    text = _OF_ONE.get((form.sort, form.form)) or _OF_ALL[form.form]
    sort = _SORTS[form.sort]
    in_class = "({base})" in text.definition
    gives = sort.gives_in_class if in_class and sort.gives_in_class else sort.gives
    options = sort.base in _WITH_OPTIONS
    words = {
        **sort._asdict(),
        "takes": sort.takes_in_class if in_class and sort.takes_in_class else sort.takes,
        "class_name": sort.wanted.title(),
        "low": form.sort,
        "gives": gives.replace("2.0", text.by),
        "inner": "times_it",
        "more": ", **kwargs" if options else "",
        "first": "super().__init__(**kwargs)\n        " if options else "",
        "config": "**super().get_config(), " if options else "",
    }
    if sort.base == "layers.Layer":
        words["first"] += "self.built = True\n        "
    if text.definition == _VARIABLE:
        words["inner"] = name(words["class_name"])
    if "{own}" in text.expression + text.definition:
        words["own"] = name((text.wanted or sort.wanted).format(**words))
    return WrittenForm(*(each.format(**words) for each in (text.expression, text.definition, text.then)))
