"""Optimizers, losses, initializers and what else a release has classes of: drawn with the arguments that they take.

Owns the values worth trying for these arguments, by name; what is not named here has those of a layer's argument of the
name, or of the type of its default. Keras says which of them a class takes.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping

from clonediff.strategies.graph import Array, Form, Function, Named, Seq, Value
from clonediff.strategies.kinds.arguments import made, values
from clonediff.strategies.kinds.forms import FORMS
from clonediff.strategies.kinds.kind import NO_PLAIN_DEFAULT, Parameter, Parameters

Objects = Mapping[str, Parameters]
"""The classes of a release that are neither layers nor models, as "losses.Huber", with what their constructors take."""

MODULES: Mapping[str, str] = {
    "optimizer": "optimizers",
    "schedule": "optimizers.schedules",
    "loss": "losses",
    "metric": "metrics",
    "initializer": "initializers",
    "regularizer": "regularizers",
    "constraint": "constraints",
}
"""Where the classes of each sort are."""

_PATH = re.compile(rf"({'|'.join(re.escape(each) for each in MODULES.values())})\.[A-Z]\w*")
_FORMED = 4
"""One in so many is a form, an object of one's own."""
_MOST = 2
"""How many arguments are given that need not be."""

_VALUES: Mapping[str, tuple[Value, ...]] = {
    "name": ("mine",),
    "dtype": ("float64",),
    "reduction": ("sum", "mean", None),
    "axis": (-1, 1, Seq((-1,))),
    "weight_decay": (0.25,),
    "clipnorm": (1.0,),
    "clipvalue": (0.5,),
    "global_clipnorm": (1.0,),
    "loss_scale_factor": (2.0,),
    "gradient_accumulation_steps": (2,),
    "ema_overwrite_frequency": (1,),
    "exclude_layers": (Seq(("dense",)),),
    "inner_optimizer": (made("optimizers.SGD", momentum=0.5),),
    "learning_rate_power": (-0.25,),
    "recall": (0.5,),
    "precision": (0.5,),
    "sensitivity": (0.5,),
    "specificity": (0.5,),
    "initial_learning_rate": (0.5,),
    "decay_steps": (4,),
    "first_decay_steps": (4,),
    "boundaries": (Seq((2, 4)),),
    "values": (Seq((0.5, 0.25, 0.125)),),
    "label_weights": (Seq((0.5, 0.25, 0.25)),),
    "thresholds": (0.25, Seq((0.25, 0.75))),
    "threshold": (0.25,),
    "num_thresholds": (4,),
    "curve": ("PR",),
    "summation_method": ("minoring",),
    "average": ("macro", "weighted"),
    "class_aggregation": (None, "variance_weighted_average"),
    "num_classes": (2, 4),
    "num_labels": (4,),
    "target_class_ids": (Seq((0,)), Seq((0, 1), "tuple")),
    "class_id": (0,),
    "ignore_class": (-1, 0),
    "fn": (Function("error named", ("y_true - y_pred",)), Named("losses.mean_absolute_error")),
    "label_smoothing": (0.25,),
    "value": (0.5, 2, Array((1,)), Array((1,), tensor=True)),
    "mean": (0.25,),
    "stddev": (0.5,),
    "minval": (-0.5, 0.0),
    "maxval": (0.5, 2),
    "gain": (0.5,),
    "input_axes": (Seq((0,)),),
    "output_axes": (Seq((-1,)),),
    "distribution": ("uniform", "untruncated_normal"),
    "initializer.scale": (2.0, 0.5),
    "initializer.mode": ("fan_avg", "fan_out"),
    "side": ("imag",),
    "window": ("hamming", None),
    "scaling": ("spectrum", None),
    "l1": (0.25, 2),
    "l2": (0.5,),
    "factor": (0.25,),
    "regularizer.mode": ("columns",),
    "min_value": (0.25,),
    "max_value": (0.5, 1),
    "rate": (0.5,),
    "constraint.axis": (-1, Seq((0,))),
}
"""By the name of an argument, or by that of a sort and its own."""
_RATES = ("learning_rate",)
"""What may be a schedule."""


def is_object(path: str) -> bool:
    """Whether a path can be no more than a class of one of these modules."""
    return _PATH.fullmatch(path) is not None


def drawn_object(sort: str, objects: Objects, draw: random.Random) -> Value:
    """One of a sort: of a class of Keras, with some of its arguments, or in a form; None where there is none."""
    if draw.randrange(_FORMED) == 0:
        return Form(sort, draw.choice(FORMS[sort]))
    return object_of_keras(sort, objects, draw)


def object_of_keras(sort: str, objects: Objects, draw: random.Random, least: int = 0) -> Value:
    """One of a class of Keras, with `least` to two arguments that need not be given; None where there is none."""
    paths = [path for path in objects if path.rpartition(".")[0] == MODULES.get(sort)]
    if not paths:
        return None
    path = draw.choice(paths)
    needed = [each for each in objects[path] if each.required]
    others = [each for each in objects[path] if not each.required]
    chosen = draw.sample(others, min(len(others), draw.randint(least, _MOST)))
    args = ((each.name, _value(sort, each, objects, draw)) for each in (*needed, *chosen))
    return Named(path, tuple(args))


def _value(sort: str, parameter: Parameter, objects: Objects, draw: random.Random) -> Value:
    if parameter.name in _RATES and draw.randrange(2):
        schedule = drawn_object("schedule", objects, draw)
        return 0.5 if schedule is None else schedule
    return draw.choice(values_of(sort, parameter) or (0.5,))


def values_of(sort: str, parameter: Parameter) -> tuple[Value, ...]:
    """What to try for an argument of such an object."""
    default = None if parameter.default == NO_PLAIN_DEFAULT else parameter.default
    return of_name(sort, parameter.name) or values(parameter.name, default, needed=parameter.required)


def of_name(sort: str, name: str) -> tuple[Value, ...] | None:
    """What to try by the name alone, None where nothing is said of it here."""
    return _VALUES.get(f"{sort}.{name}") or _VALUES.get(name)
