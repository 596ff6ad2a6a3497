"""What a check can find different: one row for each aspect.

What is seen of models at rest stands in the order in which the facts of a layer explain each other.
"""

from __future__ import annotations

import enum
import functools
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from clonediff.harness.trials.checks.places import short
from clonediff.harness.trials.checks.skeletons import Unlike
from clonediff.reports.records import Difference, Place, Raised, Severity


class Word(enum.Enum):
    """What sort of fact it is that differs."""

    ANOTHER = "the layer itself is another one"
    CHOSEN = "whoever wrote the model chose it: a setting, or the arguments of a call"
    DERIVED = "Keras makes it of what was chosen"
    QUIET = "the same, and no number that a model computes comes of it"
    COMPILED = "the model is compiled with it"


class Aspect(NamedTuple):
    """One thing that a check can find different.

    `pattern` has the names of the aspect, with "|" between several, and "CHECK: " before them where one check alone
    has it. `shown` names what a script compares. `any_layer`: cloning loses it on layers of any kind, so that a
    fingerprint names none. `known_as` is the name that a fingerprint has for it, where one line of Keras loses several.
    """

    word: Word
    pattern: str
    severity: Severity
    sentence: str
    shown: str = ""
    any_layer: bool = False
    known_as: str = ""


another, chosen, derived, quiet, compiled = (functools.partial(Aspect, word) for word in Word)
CRASHES, COMPUTES, TRAINS, PROPERTY, NAME = Severity

_OPTION = "{a} that is {was}{name} is {now}{name}{inside}"
_SETTING = "the setting {name} of {a} is {change}{inside}"
_ATTRIBUTE = "the attribute {name} of {a} is {change}{inside}"
_ENDS = "an {thing} of a model has another {last}{inside}{at}"
_OPTIONAL = "an {thing} of a model that is {was}{last} is {now}{last}{inside}{at}"
_NESTED = "the {thing}s of a model are nested otherwise{inside}"
_LOST = "{argument} of a call is lost{inside}"
_TYPE = "{form} in the arguments of a call is {found_form}{inside}"
_ARGUMENT = "{argument} of a call is another{inside}"
_EXTRA = "there is {an_argument} among the arguments of a call{inside}, where there was none"
_COMPILED = "what a model is compiled with is {change}{inside}: {name}"
_CLONE_DEPENDS = "{clone} computes something else once variables of the original change"
_ORIGINAL_DEPENDS = "the original computes something else once variables of the clone change"
_CLONING = "cloning a model, or running the clone, "

_OF_ANY_LAYER = "config.autocast|config.batch_input_shape|config.dtype|config.dynamic|config.quantization_config"
_OF_TRAINING = "config.*_regularizer|config.*_constraint"
_DTYPES = "attribute.dtype|attribute.compute_dtype|attribute.variable_dtype|attribute.dtype_policy*"
_OF_COMPILING = (
    "attribute.compiled_*|attribute.jit_compile|attribute.loss|attribute.loss.*|attribute.metrics*|attribute.optimizer*"
    "|attribute.run_eagerly|attribute.steps_*"
)
_OF_CALLS = (
    "attribute.input|attribute.inputs|attribute.input_shape|attribute.input_spec*|attribute.batch_*"
    "|attribute.output|attribute.outputs|attribute.output_shape|attribute.losses"
)
_TYPED = "weight shape|state shape|weight dtype|state dtype"

ASPECTS = (
    # The layer is another one, or a variable is.
    another("layer shared", TRAINS, "{clone} holds {a} of the original itself", "layers", True),
    another("weight shared|state shared", TRAINS, "{clone} shares a {thing} of {a} with the original", "listed", True),
    another("layer shared by clones", TRAINS, "{clone} holds {a} of the first clone itself", "", True),
    another("* shared by clones", TRAINS, "{clone} shares a {thing} of {a} with the first clone", "", True),
    another("layer unshared", TRAINS, "a shared {kind} is two{inside}", "", True),
    another("layer merged", TRAINS, "two layers are one{inside}", "", True),
    another("kind", PROPERTY, "{a} is of another class{inside}", "kinds"),
    another("layer missing", PROPERTY, "{a} is missing{inside}", "kinds"),
    another("layer extra", PROPERTY, "there is one {kind} more{inside}", "kinds"),
    # What was chosen.
    quiet("config.optional", PROPERTY, _OPTION, "setting", known_as="config.sparse"),
    chosen("config.ragged|config.sparse", PROPERTY, _OPTION, "setting", known_as="config.sparse"),
    chosen("config.activity_regularizer", TRAINS, _SETTING, "setting", True),
    chosen(_OF_TRAINING, TRAINS, _SETTING, "setting"),
    chosen("config.vocabulary_size", PROPERTY, _SETTING, "setting", True, "attribute.vocabulary"),
    chosen(_OF_ANY_LAYER, PROPERTY, _SETTING, "setting", True),
    chosen("config.*", PROPERTY, _SETTING, "setting"),
    compiled("compiled", TRAINS, "a model that is {was}compiled is {now}compiled{inside}", "compiled"),
    compiled("compiled.*", TRAINS, _COMPILED, "compiled", True),
    chosen("call count", PROPERTY, "{a} is called more often, or less,{inside}", "config", True),
    quiet("call order", PROPERTY, "the calls of a shared {kind} come in another order{inside}", "config", True),
    chosen("call outputs", COMPUTES, "a call of {a} gives another number of tensors{inside}", "config", True),
    chosen("call.* missing", PROPERTY, _LOST, "config", True),
    chosen("call.* type", PROPERTY, _TYPE, "config", True),
    chosen("call.* tensor|call.* value|call.* order", PROPERTY, _ARGUMENT, "config", True),
    chosen("trainable", PROPERTY, "a {frozen} {kind} is {thawed}{inside}", "trainable", True),
    chosen("name", NAME, "{a} has another name{inside}", "names", True),
    chosen("not fresh", TRAINS, "a weight of {a} begins with the original's value{inside}", "", True),
    chosen("state not fresh", COMPUTES, "a state of {a} begins as a run of the original has left it{inside}"),
    chosen("weight unshared|state unshared", TRAINS, "a shared {thing} of {a} is two{inside}", "", True),
    chosen("weight merged|state merged", TRAINS, "two {thing}s are one{inside}", "", True),
    chosen("unshared.*|merged.*", PROPERTY, "{a} shares {name} in one of the two models only{inside}", "", True),
    # What Keras makes of that.
    derived("attribute.autocast|attribute._autocast", PROPERTY, _ATTRIBUTE, "attribute", True),
    derived(_DTYPES, PROPERTY, _ATTRIBUTE, "attribute", True, "attribute.dtype_policy"),
    derived("call.* extra", PROPERTY, _EXTRA, "config", True),
    derived("input count|output count", COMPUTES, "a model has another number of {thing}s{inside}", "config"),
    derived("input order|output order", COMPUTES, "a model has its {thing}s in another order{inside}", "config", True),
    derived("input tensor|output tensor", COMPUTES, _ENDS, "config", True),
    derived("input shape|output shape", PROPERTY, _ENDS, "config"),
    derived("input dtype|output dtype", COMPUTES, _ENDS, "config"),
    quiet("input optional|output optional", PROPERTY, _OPTIONAL, "config"),
    derived("input name", NAME, "an input of a model has another name{inside}", "names", True),
    derived("input structure *|output structure *", COMPUTES, _NESTED, "config"),
    derived("weight missing|state missing", COMPUTES, "a {thing} of {a} is missing{inside}", "listed"),
    derived("weight extra|state extra", COMPUTES, "{a} has one {thing} more{inside}", "listed"),
    derived(_TYPED, COMPUTES, "a {thing} of {a} has another {last}{inside}", "listed"),
    derived("weight order|state order", COMPUTES, "a model has its {thing}s in another order{inside}", "listed", True),
    derived("* trainable", TRAINS, "a {frozen} {thing} of {a} is {thawed}{inside}", "listed", True),
    derived("* scope|* path alone", NAME, "a {thing} of {a} has another path{inside}", "listed", True),
    derived("weight name*|state name*", NAME, "a {thing} of {a} has another name{inside}", "listed", True),
    derived("state value", COMPUTES, "a state of {a} begins with another value{inside}"),
    derived("copied value", COMPUTES, "a weight of {a} does not get the value that is copied into it{inside}"),
    derived("value not kept", COMPUTES, "a weight of {a} does not keep its value{inside}"),
    derived("weights: raises", CRASHES, "{clone} does not take the weights of the original"),
    quiet("layer order", PROPERTY, "the layers of {a} come in another order{inside}", "config", True),
    derived("attribute.supports_masking", PROPERTY, _ATTRIBUTE, "attribute", True),
    derived("attribute.path", NAME, "the path of {a} is another{inside}", "attribute", True),
    derived("attribute.vocabulary|attribute.use_cudnn", PROPERTY, _ATTRIBUTE, "attribute", True),
    quiet(_OF_CALLS, PROPERTY, _ATTRIBUTE, "attribute", True),
    compiled(_OF_COMPILING, PROPERTY, _ATTRIBUTE, "attribute"),
    compiled("attribute._compile_config*", TRAINS, _ATTRIBUTE, "attribute"),
    derived("attribute.*", PROPERTY, _ATTRIBUTE, "attribute"),
    derived("compiled_with shared", TRAINS, "{clone} has an optimizer or a metric of the original", "optimizer"),
    quiet("object shared", PROPERTY, "{clone} has a list, or another object, of the original itself", "apart", True),
    quiet("object reached.*", PROPERTY, "{clone} leads to an object of the original, by {name}", "apart", True),
    derived("clone dependent", COMPUTES, _CLONE_DEPENDS),
    derived("original dependent", COMPUTES, _ORIGINAL_DEPENDS),
    # What cloning does to the original.
    derived("untouched: weight value", COMPUTES, "a weight has another value{inside}", "weight values", True),
    derived("touched", PROPERTY, "something in it is another"),
    # Making a clone.
    derived("made: raises", CRASHES, "{held} cannot be cloned", "raises"),
    derived("no model", CRASHES, "the cloner gives something else than a Functional or Sequential model", "is a model"),
    derived("original refused", CRASHES, "the original cannot be built or run", "raises"),
    derived("process timed out", CRASHES, f"{_CLONING}does not end in time", "raises"),
    derived("process out of memory", CRASHES, f"{_CLONING}takes too much memory", "raises"),
    derived("process *", CRASHES, f"{_CLONING}ends its process", "raises"),
    derived("no clone", CRASHES, "{clone} cannot be made"),
    derived("warned: raises", PROPERTY, "cloning warns of something that building does not", "raises"),
    # Running it.
    derived("mask lost", COMPUTES, "a mask is lost{inside}{training}{at}", "run"),
    derived("mask added", COMPUTES, "there is a mask{inside} where the original has none{training}{at}", "run"),
    derived("mask value", COMPUTES, "a mask has other values{inside}{training}{at}", "numbers"),
    derived("structure *", COMPUTES, "the outputs of a call are nested otherwise{inside}", "run"),
    derived("step missing|step extra", COMPUTES, "{a} does not run as often{inside}{training}", "run"),
    derived("order", COMPUTES, "{clone} gives its outputs in another order{training}", "numbers", True),
    derived("count", COMPUTES, "{clone} gives another number of outputs{training}{at}", "run"),
    derived("shape|dtype", COMPUTES, "{clone} gives another {thing}{training}{at}", "run"),
    derived("value", COMPUTES, "{clone} computes something else{training}{at}", "numbers"),
    derived("training: raises", CRASHES, "{clone} cannot be trained"),
    derived("raises", CRASHES, "{clone} does not run{training}", "run"),
    # Training it.
    derived("losses count|losses value", TRAINS, "the layers add other losses{inside}"),
    derived("losses order", PROPERTY, "the losses that layers add come in another order{inside}", "", True),
    derived("loss", TRAINS, "training gives another loss, or another metric,{inside}"),
    derived("loss count", TRAINS, "training gives more losses and metrics, or fewer,{inside}"),
    derived("training: weight *", TRAINS, "the {thing} of {a} has another {last} after training{inside}"),
)


_UNDECLARED = derived("*", PROPERTY, "{a} differs{inside}: {aspect}")
"""What a record from another clonediff may have."""


@functools.cache
def _row(check: str, name: str) -> tuple[int, Aspect]:
    """The row of an aspect, after its number: one of that check alone comes before those of any check."""
    for owner in (check, ""):
        for number, row in enumerate(ASPECTS):
            of_check, _, names = row.pattern.rpartition(": ")
            if of_check == owner and any(fnmatchcase(name, pattern) for pattern in names.split("|")):
                return number, row
    return len(ASPECTS), _UNDECLARED


def row_of(difference: Difference) -> tuple[int, Aspect]:
    """The row of a difference, after the number of it."""
    return _row(difference.check, difference.aspect)


def aspect_of(difference: Difference) -> Aspect:
    """The row of a difference."""
    return row_of(difference)[1]


def differs(
    check: str,
    name: str,
    path: str,
    expected: Any,
    actual: Any,
    first: Place | None,
    *,
    severity: Severity | None = None,
    raised: Raised | None = None,
    digests: tuple[str, str] | None = None,
) -> Difference:
    """A difference in the aspect of that name, as severe as that is unless the place makes it otherwise."""
    _, row = _row(check, name)
    expected, actual = (short(value, 300 if raised else 160) for value in (expected, actual))
    severity = row.severity if severity is None else severity
    return Difference(check, path, name, expected, actual, severity, first, raised, digests)


def differs_in(check: str, part: str, path: str, leaf: Unlike, first: Place | None) -> Difference:
    """The same of a leaf of the part that is at that path."""
    name, path = f"{part} {leaf.aspect}".lstrip(), f"{path}{leaf.path}"
    return differs(check, name, path, leaf.expected, leaf.actual, first, digests=leaf.digests)


def differs_in_value(check: str, name: str, path: str, expected: str, actual: str, first: Place | None) -> Difference:
    """A difference in numbers, by the digests of both."""
    return differs(check, name, path, expected, actual, first, digests=(expected, actual))


def differs_in_order(check: str, part: str, path: str, wants: Any, haves: Any, model: Place) -> list[Difference]:
    """That there are more or fewer of a model's losses or ends, or that they come in another order."""
    if len(wants) != len(haves):
        return [differs(check, f"{part}count", path, len(wants), len(haves), model)]
    if wants != haves and sorted(wants) == sorted(haves):
        return [differs(check, f"{part}order", path, list(range(len(wants))), list(map(haves.index, wants)), model)]
    return []
