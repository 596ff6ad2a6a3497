"""What a check can find different: one row for each aspect.

What is seen of models at rest stands in the order in which the facts of a layer explain each other.
"""

from __future__ import annotations

import enum
import functools
from fnmatch import fnmatchcase
from typing import NamedTuple

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

    pattern: str
    severity: Severity
    sentence: str
    word: Word = Word.DERIVED
    shown: str = ""
    any_layer: bool = False
    known_as: str = ""


ANOTHER, CHOSEN, DERIVED, QUIET, COMPILED = Word
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
_CLONING = "cloning a model, or running the clone, "

_OF_ANY_LAYER = "config.autocast|config.batch_input_shape|config.dtype|config.dynamic|config.quantization_config"
_OF_TRAINING = "config.*_regularizer|config.*_constraint"
_DTYPES = "attribute.dtype|attribute.compute_dtype|attribute.variable_dtype|attribute.dtype_policy*"
_OF_COMPILING = "attribute.optimizer*|attribute.loss|attribute.loss.*|attribute.metrics*|attribute.steps_*"
_OF_CALLS = (
    "attribute.input|attribute.inputs|attribute.input_shape|attribute.input_spec*|attribute.batch_*"
    "|attribute.output|attribute.outputs|attribute.output_shape|attribute.losses"
)
_OPTIONS = "input optional|input sparse|input ragged|output optional|output sparse|output ragged"

ASPECTS = (
    # The layer is another one, or a variable is.
    Aspect("own: layer shared", TRAINS, "{clone} holds {a} of the original itself", ANOTHER, "layers", True),
    Aspect(
        "own: weight shared|state shared",
        TRAINS,
        "{clone} shares a {thing} of {a} with the original",
        ANOTHER,
        "variables",
        True,
    ),
    Aspect("layer shared by clones", TRAINS, "{clone} holds {a} of the first clone itself", ANOTHER, any_layer=True),
    Aspect(
        "weight shared by clones|state shared by clones",
        TRAINS,
        "{clone} shares a {thing} of {a} with the first clone",
        ANOTHER,
        any_layer=True,
    ),
    Aspect("layer replaced", TRAINS, "{a} is another object", ANOTHER, "layer ids", True),
    Aspect("layer unshared", TRAINS, "a shared {kind} is two{inside}", ANOTHER, any_layer=True),
    Aspect("layer merged", TRAINS, "two layers are one{inside}", ANOTHER, any_layer=True),
    Aspect("kind", PROPERTY, "{a} is of another class{inside}", ANOTHER, "kind"),
    Aspect("layer missing", PROPERTY, "{a} is missing{inside}", ANOTHER, "kinds"),
    Aspect("layer extra", PROPERTY, "there is one {kind} more{inside}", ANOTHER, "kinds"),
    # What was chosen.
    Aspect("config.optional", PROPERTY, _OPTION, QUIET, "setting", known_as="config.sparse"),
    Aspect("config.ragged|config.sparse", PROPERTY, _OPTION, CHOSEN, "setting", known_as="config.sparse"),
    Aspect("config.activity_regularizer", TRAINS, _SETTING, CHOSEN, "setting", True),
    Aspect(_OF_TRAINING, TRAINS, _SETTING, CHOSEN, "setting"),
    Aspect("config.vocabulary_size", PROPERTY, _SETTING, CHOSEN, "setting", True, "attribute.vocabulary"),
    Aspect(_OF_ANY_LAYER, PROPERTY, _SETTING, CHOSEN, "setting", True),
    Aspect("config.*", PROPERTY, _SETTING, CHOSEN, "setting"),
    Aspect("compiled", TRAINS, "a model that is {was}compiled is {now}compiled{inside}", COMPILED, "compiled"),
    Aspect("compiled.*", TRAINS, _COMPILED, COMPILED, "compiled", True),
    Aspect("call count", PROPERTY, "{a} is called more often, or less,{inside}", CHOSEN, "calls", True),
    Aspect(
        "call order",
        PROPERTY,
        "the calls of a shared {kind} come in another order{inside}",
        QUIET,
        "call order",
        True,
    ),
    Aspect("call outputs", COMPUTES, "a call of {a} gives another number of tensors{inside}", CHOSEN, "config", True),
    Aspect("call.* missing", PROPERTY, _LOST, CHOSEN, "arguments", True),
    Aspect("call.* type", PROPERTY, _TYPE, CHOSEN, "arguments", True),
    Aspect("call.* tensor|call.* value|call.* order", PROPERTY, _ARGUMENT, CHOSEN, "arguments", True),
    Aspect("trainable", TRAINS, "a {frozen} {kind} is {thawed}{inside}", CHOSEN, "trainable", True),
    Aspect("name", NAME, "{a} has another name{inside}", CHOSEN, "names", True),
    Aspect("not fresh", TRAINS, "a weight of {a} begins with the original's value{inside}", CHOSEN, any_layer=True),
    Aspect("state not fresh", COMPUTES, "a state of {a} begins as a run of the original has left it{inside}", CHOSEN),
    Aspect("weight unshared|state unshared", TRAINS, "a shared {thing} of {a} is two{inside}", CHOSEN, any_layer=True),
    Aspect("weight merged|state merged", TRAINS, "two {thing}s are one{inside}", CHOSEN, any_layer=True),
    Aspect(
        "unshared.*|merged.*",
        PROPERTY,
        "{a} shares {name} in one of the two models only{inside}",
        CHOSEN,
        any_layer=True,
    ),
    # What Keras makes of that.
    Aspect("attribute.autocast|attribute._autocast", PROPERTY, _ATTRIBUTE, DERIVED, "attribute", True),
    Aspect(_DTYPES, PROPERTY, _ATTRIBUTE, DERIVED, "attribute", True, "attribute.dtype_policy"),
    Aspect("call.* extra", PROPERTY, _EXTRA, DERIVED, "arguments", True),
    Aspect("input count|output count", COMPUTES, "a model has another number of {thing}s{inside}", DERIVED, "config"),
    Aspect(
        "input order|output order",
        COMPUTES,
        "the {thing}s of a model come in another order{inside}",
        DERIVED,
        "config",
        True,
    ),
    Aspect("input tensor|output tensor", COMPUTES, _ENDS, DERIVED, "ends", True),
    Aspect("input shape|output shape", PROPERTY, _ENDS, DERIVED, "config"),
    Aspect("input dtype|output dtype", COMPUTES, _ENDS, DERIVED, "config"),
    Aspect(_OPTIONS, PROPERTY, _OPTIONAL, QUIET, "config"),
    Aspect("input name", NAME, "an input of a model has another name{inside}", DERIVED, "input names", True),
    Aspect("input structure *|output structure *", COMPUTES, _NESTED, DERIVED, "config"),
    Aspect("weight missing|state missing", COMPUTES, "a {thing} of {a} is missing{inside}", DERIVED, "listed"),
    Aspect("weight extra|state extra", COMPUTES, "{a} has one {thing} more{inside}", DERIVED, "listed"),
    Aspect(
        "weight shape|state shape|weight dtype|state dtype",
        COMPUTES,
        "a {thing} of {a} has another {last}{inside}",
        DERIVED,
        "listed",
    ),
    Aspect(
        "weight order|state order",
        COMPUTES,
        "the {thing}s of a model come in another order{inside}",
        DERIVED,
        "listed",
        True,
    ),
    Aspect(
        "weight trainable|state trainable",
        TRAINS,
        "a {frozen} {thing} of {a} is {thawed}{inside}",
        DERIVED,
        "listed",
        True,
    ),
    Aspect(
        "* scope|* path alone",
        NAME,
        "a {thing} of {a} has another path under the same name{inside}",
        DERIVED,
        "listed",
        True,
    ),
    Aspect("weight name*|state name*", NAME, "a {thing} of {a} has another name{inside}", DERIVED, "listed", True),
    Aspect("state value", COMPUTES, "a state of {a} begins with another value{inside}"),
    Aspect("copied value", COMPUTES, "a weight of {a} does not get the value that is copied into it{inside}"),
    Aspect("copied count", COMPUTES, "{clone} takes more weights, or fewer"),
    Aspect("value not kept", COMPUTES, "a weight of {a} does not keep its value{inside}", DERIVED, "kept"),
    Aspect("weights: raises", CRASHES, "{clone} does not take the weights of the original"),
    Aspect("layer order", PROPERTY, "the layers of {a} come in another order{inside}", QUIET, "config", True),
    Aspect("attribute.supports_masking", PROPERTY, _ATTRIBUTE, DERIVED, "attribute", True),
    Aspect("attribute.path", NAME, "the path of {a} is another{inside}", DERIVED, "attribute", True),
    Aspect("attribute.vocabulary|attribute.use_cudnn", PROPERTY, _ATTRIBUTE, DERIVED, "attribute", True),
    Aspect(_OF_CALLS, PROPERTY, _ATTRIBUTE, QUIET, "attribute", True),
    Aspect(_OF_COMPILING, PROPERTY, _ATTRIBUTE, COMPILED, "attribute"),
    Aspect("attribute.*", PROPERTY, _ATTRIBUTE, DERIVED, "attribute"),
    Aspect(
        "compiled_with shared",
        TRAINS,
        "{clone} is compiled with an optimizer, or a metric, of the original itself",
        DERIVED,
        "optimizer",
    ),
    Aspect(
        "object shared",
        PROPERTY,
        "{clone} has a list, or another object that can change, of the original itself",
        QUIET,
        "apart",
        True,
    ),
    Aspect(
        "object reached.*",
        PROPERTY,
        "{clone} leads to an object of the original that can change: by {name}",
        QUIET,
        "unreached",
        True,
    ),
    # What cloning does to the original.
    Aspect("inbound nodes", PROPERTY, "{a} of it is called once more", any_layer=True),
    Aspect("untouched: weight value", COMPUTES, "a weight has another value{inside}", DERIVED, "weight values", True),
    Aspect("optimizer state", TRAINS, "what the optimizer and the metrics have counted is another"),
    Aspect("touched", PROPERTY, "something in it is another"),
    # Making a clone.
    Aspect("made: raises", CRASHES, "{held} cannot be cloned", DERIVED, "raises"),
    Aspect(
        "no model",
        CRASHES,
        "the cloner gives something else than a Functional or Sequential model",
        DERIVED,
        "is a model",
    ),
    Aspect("original refused", CRASHES, "the original cannot be built or run", DERIVED, "raises"),
    Aspect("process timed out", CRASHES, f"{_CLONING}does not end in time", DERIVED, "raises"),
    Aspect("process out of memory", CRASHES, f"{_CLONING}takes too much memory", DERIVED, "raises"),
    Aspect("process *", CRASHES, f"{_CLONING}ends its process", DERIVED, "raises"),
    Aspect("no clone", CRASHES, "{clone} cannot be made"),
    Aspect("warned: raises", PROPERTY, "cloning warns of something that building does not", DERIVED, "warns"),
    Aspect("asked of *", PROPERTY, "a clone function is {aspect}", DERIVED, "asked", True),
    Aspect("asked again", TRAINS, "a clone function is called more than once on a layer", DERIVED, "asked", True),
    Aspect("not asked", PROPERTY, "a clone function is not called on a layer", any_layer=True),
    Aspect("not what it gave", TRAINS, "a layer that a clone function returns is not in the clone", any_layer=True),
    # Running it.
    Aspect("mask lost", COMPUTES, "a mask is lost{inside}{training}{at}", DERIVED, "run"),
    Aspect("mask added", COMPUTES, "there is a mask{inside} where the original has none{training}{at}", DERIVED, "run"),
    Aspect("mask value", COMPUTES, "a mask has other values{inside}{training}{at}", DERIVED, "numbers"),
    Aspect("structure *", COMPUTES, "the outputs of a call are nested otherwise{inside}", DERIVED, "nesting"),
    Aspect("step missing|step extra", COMPUTES, "{a} does not run as often{inside}{training}", DERIVED, "run"),
    Aspect("order", COMPUTES, "{clone} gives its outputs in another order{training}", DERIVED, "numbers", True),
    Aspect("count", COMPUTES, "{clone} gives another number of outputs{training}{at}", DERIVED, "run"),
    Aspect("shape|dtype", COMPUTES, "{clone} gives another {thing}{training}{at}", DERIVED, "run"),
    Aspect("value", COMPUTES, "{clone} computes something else{training}{at}", DERIVED, "numbers"),
    Aspect("training: raises", CRASHES, "{clone} cannot be trained"),
    Aspect("raises", CRASHES, "{clone} does not run{training}", DERIVED, "run"),
    Aspect("no longer raises|raises another", PROPERTY, "{clone} raises another exception, or none{training}"),
    Aspect("not run|not trained", COMPUTES, "{clone} was {aspect}"),
    # Training it.
    Aspect("losses count|losses value", TRAINS, "the layers add other losses{inside}"),
    Aspect("losses order", PROPERTY, "the losses that layers add come in another order{inside}", any_layer=True),
    Aspect("loss", TRAINS, "a step of training gives another loss{inside}"),
    Aspect(
        "training: gradient count|weight count", TRAINS, "a step of training gives more {thing}s, or fewer,{inside}"
    ),
    Aspect(
        "gradient missing|gradient extra",
        TRAINS,
        "a weight of {a} has a gradient in one of the two models only{inside}",
    ),
    Aspect(
        "training: gradient *|weight *",
        TRAINS,
        "the {thing} of {a} has another {last} after a step of training{inside}",
    ),
)


class _Row(NamedTuple):
    """A row of the table, by where it stands, with a pattern for each of its names."""

    aspect: Aspect
    rank: int
    check: str
    names: tuple[str, ...]


def _read(number: int, aspect: Aspect) -> _Row:
    check, found, names = aspect.pattern.rpartition(": ")
    return _Row(aspect, number, check if found else "", tuple(names.split("|")))


_ROWS = tuple(_read(number, aspect) for number, aspect in enumerate(ASPECTS))
_UNDECLARED = Aspect("*", PROPERTY, "{a} differs{inside}: {aspect}")
"""What a record from another clonediff may have."""


@functools.cache
def _row(check: str, name: str) -> _Row | None:
    """The row of an aspect: one of that check alone comes before those of any check."""
    rows = (row for own in (check, "") for row in _ROWS if row.check == own)
    return next((row for row in rows if any(fnmatchcase(name, pattern) for pattern in row.names)), None)


def aspect_of(difference: Difference) -> Aspect:
    """The row of a difference."""
    row = _row(difference.check, difference.aspect)
    return _UNDECLARED if row is None else row.aspect


def rank_of(difference: Difference) -> int:
    """Where the aspect of a difference stands among all of them."""
    row = _row(difference.check, difference.aspect)
    return len(_ROWS) if row is None else row.rank


def differs(
    check: str,
    name: str,
    path: str,
    expected: str,
    found: str,
    first: Place | None,
    *,
    severity: Severity | None = None,
    raised: Raised | None = None,
    digests: tuple[str, str] | None = None,
) -> Difference:
    """A difference in the aspect of that name, as severe as that is unless the place makes it otherwise."""
    row = _row(check, name)
    if row is None:
        raise KeyError(f"the check {check} has no aspect {name!r}")
    severity = row.aspect.severity if severity is None else severity
    return Difference(check, path, name, expected, found, severity, first, raised, digests)


def differs_in(
    check: str, part: str, path: str, leaf: Unlike, first: Place | None, severity: Severity | None = None
) -> Difference:
    """The same of a leaf of the part that is at that path."""
    name, path = f"{part} {leaf.aspect}".lstrip(), f"{path}{leaf.path}"
    return differs(check, name, path, leaf.expected, leaf.found, first, severity=severity, digests=leaf.digests)


def differs_in_value(check: str, name: str, path: str, expected: str, found: str, first: Place | None) -> Difference:
    """A difference in numbers, by the digests of both."""
    return differs(check, name, path, expected, found, first, digests=(expected, found))
