"""Requests for trials, and observations of a model and its clones, as plain data.

The process that runs Keras makes observations; another one compares them. Arrays are digests: if two differ,
`SubjectProcess.values` returns the numbers.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import msgspec

NO_LAYER = -2
"""The index for no layer, or several. Lower indices mean a layer that the other model does not have."""


class Fact(msgspec.Struct, frozen=True, omit_defaults=True):
    """The value of an attribute: text, or a reference to an object of the model.

    `layer` is the index of a layer in `Shape.layers`, -1 for the model; `variable` the index of a weight or, after
    the weights, of a state; `tensor` a symbolic tensor by layer, use and output. For a mutable object that
    was read at an earlier path, `met` has that layer and path.

    `detail` is a digest of what `text` leaves out: the code of a class, or the order of keys in a dict. If `text` names
    layers, `named` has their names without the numbers that Keras appends, each with the index of the layer.
    """

    text: str = ""
    layer: int | None = None
    variable: int | None = None
    tensor: tuple[int, int, int] | None = None
    met: tuple[int, str] | None = None
    detail: str = ""
    named: tuple[tuple[str, int], ...] = ()

    @property
    def references(self) -> tuple[object, ...]:
        return self.layer, self.variable, self.tensor, self.met


def same_fact(left: Fact | None, right: Fact | None) -> bool:
    """Whether two facts are equal, apart from names of layers; references are aligned already."""
    if left is None or right is None:
        return left is right
    if left.references != right.references or left.detail != right.detail:
        return False
    if left.text == right.text:
        return True
    return len(left.named) == len(right.named) > 0 and all(
        stem == other_stem if NO_LAYER in (layer, other) else layer == other
        for (stem, layer), (other_stem, other) in zip(left.named, right.named, strict=True)
    )


class Frame(msgspec.Struct, frozen=True):
    """A frame of a traceback; `file` is a path from the package on: "keras/src/models/cloning.py"."""

    file: str
    function: str
    line: int


class Failure(msgspec.Struct, frozen=True):
    """An exception or warning; `layer` is the innermost layer that was being called, or -1."""

    type: str
    message: str
    frames: tuple[Frame, ...] = ()
    layer: int = -1


class Leaf(msgspec.Struct, frozen=True):
    """A tensor in a result. `digest` covers dtype, shape and bytes, with equal bits for all NaNs."""

    shape: tuple[int | None, ...]
    dtype: str
    digest: str
    mask: str | None = None


class StepSeen(msgspec.Struct, frozen=True):
    """The outputs of one call of a layer in a run.

    `layer` is its index in `Shape.layers`, `use` counts its calls in the run, and `structure` is as in `ModelRun`.
    """

    layer: int
    use: int
    outputs: tuple[Leaf, ...]
    structure: Any = 0


class ModelRun(msgspec.Struct, frozen=True):
    """A run of a model. `structure` is the skeleton of the result, with numbers as leaves."""

    structure: Any = None
    outputs: tuple[Leaf, ...] = ()
    steps: tuple[StepSeen, ...] = ()
    losses: tuple[str, ...] = ()
    failure: Failure | None = None


class Variable(msgspec.Struct, frozen=True):
    """A weight or state, such as a seed. `ident` identifies the variable within one answer.

    `name` is the path, `short_name` the name alone. `constraint` has the constraint and regularizer. `watched` is the
    `trainable` flag of the variable itself: if False, it gets no gradient, even in a trainable layer.
    """

    name: str
    owner: int
    shape: tuple[int, ...]
    dtype: str
    trainable: bool
    ident: int
    value: str = ""
    short_name: str = ""
    constraint: str = ""
    watched: bool = False


class CallSeen(msgspec.Struct, frozen=True):
    """A call. Arguments are skeletons, in which a tensor is {"tensor": [layer, use, output]}."""

    args: Any
    kwargs: Any
    outputs: int


class LayerSeen(msgspec.Struct, frozen=True):
    """A layer, a nested model or an operation. `ident` identifies the object within one answer.

    `inside` is the index of its holder, or -1 for the model; `role` is the holder's attribute. `nodes` counts inbound
    and outbound nodes, also in other graphs. `own` is true for a custom class, and `code` is a digest of that class.
    `attributes` are read after both runs, and only at the first place of a layer.
    """

    name: str
    kind: str
    ident: int
    inside: int
    role: str
    config: dict[str, str]
    trainable: bool
    calls: tuple[CallSeen, ...] = ()
    nodes: tuple[int, int] = (0, 0)
    own: bool = False
    code: str = ""
    model: bool = False
    attributes: dict[str, Fact] = {}


class End(msgspec.Struct, frozen=True):
    """A declared input or output of a model. `shape` is None for unknown rank."""

    name: str
    shape: tuple[int | None, ...] | None
    dtype: str
    tensor: tuple[int, int, int]
    optional: bool = False


class Shape(msgspec.Struct, frozen=True, dict=True):
    """The static structure of a model. `compiled` has its `compile` arguments."""

    kind: str
    name: str
    trainable: bool
    input_structure: Any
    output_structure: Any
    inputs: tuple[End, ...]
    outputs: tuple[End, ...]
    layers: tuple[LayerSeen, ...]
    weights: tuple[Variable, ...]
    states: tuple[Variable, ...]
    compiled: dict[str, str] | None = None
    own: bool = False
    code: str = ""
    attributes: dict[str, Fact] = {}

    @property
    def facts(self) -> list[dict[str, Fact]]:
        """The attributes of the model and of each layer."""
        return [self.attributes, *(layer.attributes for layer in self.layers)]

    @cached_property
    def members(self) -> dict[int, list[int]]:
        """The sublayers of each layer that has sublayers, in order; -1 is the model."""
        members: dict[int, list[int]] = {}
        for index, layer in enumerate(self.layers):
            members.setdefault(layer.inside, []).append(index)
        return members


class Leak(msgspec.Struct, frozen=True):
    """An object of the original, of class `thing`, that can be reached from the clone.

    `path` leads to it from `layer` in the clone, `of_path` from `of_layer` in the original; -1 is the model.
    """

    thing: str
    layer: int
    path: str
    of_layer: int
    of_path: str


class Trained(msgspec.Struct, frozen=True):
    """The results of two training batches and one test batch, then the weights."""

    results: tuple[str, ...] = ()
    weights: tuple[Leaf, ...] = ()
    failure: Failure | None = None


class Observation(msgspec.Struct, frozen=True):
    """The observation of one model. A part that was not requested is None.

    `shape` is the model as the cloner returned it; `copied` is the failure if the weights of the original do not fit.
    `fresh[i]` is False if weight i starts with the value of the original, and not by chance; `fresh_states` says so for
    the states of a clone of a live model. `leaks` has objects of the original that can be reached from the clone.

    With `keeps_inputs`, the clone must have the inputs of the original itself. If a clone differs, `another` is the
    null model: another build of the source or, of a `live` model, another observation.
    """

    shape: Shape
    inference: ModelRun | None = None
    training: ModelRun | None = None
    copied: Failure | None = None
    copied_weights: tuple[str, ...] = ()
    fresh: tuple[bool, ...] = ()
    fresh_states: tuple[bool, ...] = ()
    trained: Trained | None = None
    keeps_inputs: bool = False
    another: Observation | None = None
    live: bool = False
    leaks: tuple[Leak, ...] = ()


class Clone(msgspec.Struct, frozen=True):
    """The result of one cloner: a clone or a failure, and changes to the original.

    `original_after` and `inference_after` are the structure and a run of the original after cloning, None if unchanged.
    `again` is a second clone, or `again_failure` its failure. `warned` has warnings that building a model did not give.
    `clone_dependent` is a run of the clone that differs after all variables of the original were changed;
    `original_dependent` is a run of the original that differs after all variables of the clone were.
    """

    failure: Failure | None = None
    observation: Observation | None = None
    original_after: Shape | None = None
    inference_after: ModelRun | None = None
    again: Observation | None = None
    again_failure: Failure | None = None
    warned: tuple[Failure, ...] = ()
    clone_dependent: ModelRun | None = None
    original_dependent: ModelRun | None = None


class Answer(msgspec.Struct, frozen=True):
    """The answer of a subject to one trial, with its duration."""

    original: Observation | None = None
    refused: Failure | None = None
    clones: dict[str, Clone] = {}
    seconds: float = 0.0


class Case(msgspec.Struct, frozen=True):
    """The input of a trial: a model's source, specs of its inputs, and a seed.

    `arguments` has expressions for the arguments of `clone_model` by name, `within` expressions for the scopes in which
    the model is cloned. `compiles` is whether the clone of a compiled model must be compiled, too. With `keeps_inputs`,
    the clone must have the inputs of the original itself.
    """

    source: str
    inputs: tuple[dict[str, Any], ...]
    batch: int = 3
    seed: int = 0
    arguments: dict[str, str] = {}
    keeps_inputs: bool = False
    compiles: bool = True
    within: tuple[str, ...] = ()


class Request(msgspec.Struct, frozen=True):
    """A request for a trial of a case with some cloners, on a device.

    If `costly`, clone a second time, and train. The time limit of a cloner is the longer of two: the first of
    `clone_seconds`, and the second times as long as building and observing the model takes. 0 means no limit.
    """

    case: Case
    cloners: tuple[str, ...] = ()
    costly: bool = False
    device: str | None = None
    clone_seconds: tuple[float, float] = (0.0, 0.0)


class ArgumentAudited(msgspec.Struct, frozen=True, omit_defaults=True):
    """The audit of a constructor argument: the config has "lost" or "kept" it, or "cannot tell".

    `value` is the value that was tried, as Python code; `reason` says what is lost. A class without arguments has one
    record, with an empty name.
    """

    name: str
    answer: str
    value: str = ""
    reason: str = ""

    @property
    def given(self) -> str:
        return f"{self.name}={self.value}" if self.name else "any argument"


class ClassAudited(msgspec.Struct, frozen=True, omit_defaults=True):
    """The audits of a class's arguments, or the `reason` why there are none."""

    name: str
    arguments: tuple[ArgumentAudited, ...] = ()
    reason: str = ""

    @property
    def lost(self) -> tuple[ArgumentAudited, ...]:
        return tuple(argument for argument in self.arguments if argument.answer == "lost")
