"""Requests for trials, and observations of a model and its clones, as plain data.

A child process makes observations, and its parent compares them. An observation has digests of arrays;
`SubjectProcess.values` returns how two arrays differ.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import msgspec

NO_LAYER = -2
"""The index for no layer, or for several. Smaller indices are for layers that only one of two models has."""


class Fact(msgspec.Struct, frozen=True, omit_defaults=True):
    """The value of an attribute: text, or a reference to an object of the model.

    `layer` is the index of a layer in `Structure.layers`, -1 for the model; `variable` the index of a weight or, after
    the weights, of a state. `tensor` identifies a symbolic tensor by layer, call and output. For a mutable object that
    was read before, `first_place` is the layer and path where it was read first.

    `detail` is a digest of what `text` leaves out: the code of a class, or the order of keys in a dict. If `text` names
    layers, `layer_names` has the names, without the numbers that Keras appends, each with the index of the layer.
    """

    text: str = ""
    layer: int | None = None
    variable: int | None = None
    tensor: tuple[int, int, int] | None = None
    first_place: tuple[int, str] | None = None
    detail: str = ""
    layer_names: tuple[tuple[str, int], ...] = ()

    @property
    def references(self) -> tuple[object, ...]:
        return self.layer, self.variable, self.tensor, self.first_place


def is_same_fact(left: Fact | None, right: Fact | None) -> bool:
    """Whether two facts are equal, apart from names of layers. Their references must be aligned."""
    if left is None or right is None:
        return left is right
    if left.references != right.references or left.detail != right.detail:
        return False
    if left.text == right.text:
        return True
    return len(left.layer_names) == len(right.layer_names) > 0 and all(
        stem == other_stem if NO_LAYER in (layer, other_layer) else layer == other_layer
        for (stem, layer), (other_stem, other_layer) in zip(left.layer_names, right.layer_names, strict=True)
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


class CallOutputs(msgspec.Struct, frozen=True):
    """The outputs of one call of a layer in a run.

    `layer` is an index in `Structure.layers`, `call` is the call's number. `structure` nests the indices of `outputs`.
    """

    layer: int
    call: int
    outputs: tuple[Leaf, ...]
    structure: Any = 0


class ModelRun(msgspec.Struct, frozen=True):
    """A run of a model; `steps` has the calls of its layers. `structure` nests the indices of `outputs`."""

    structure: Any = None
    outputs: tuple[Leaf, ...] = ()
    steps: tuple[CallOutputs, ...] = ()
    losses: tuple[str, ...] = ()
    failure: Failure | None = None


class Variable(msgspec.Struct, frozen=True):
    """A weight or state, such as a seed. `ident` identifies the variable within one answer.

    `name` is the path, `short_name` the name alone. `constraint` has all settings, such as the regularizer.
    `trainable` is whether the model trains it; `trainable_flag` is its own flag, which its layer may overrule.
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
    trainable_flag: bool = False


class CallRecord(msgspec.Struct, frozen=True):
    """A call. In its arguments, a tensor is {"tensor": [layer, call, output]} with three indices."""

    args: Any
    kwargs: Any
    output_count: int


class LayerRecord(msgspec.Struct, frozen=True):
    """A layer, a nested model or an operation. `ident` identifies the object within one answer.

    `holder` is the index of the layer that holds it, -1 for the model; `role` is the holder's attribute. `node_counts`
    counts inbound and outbound nodes, also in other models. `code` is a digest of the class if it `is_custom`.
    `attributes` are read after the runs. If a layer has several holders, only its first record has attributes.
    """

    name: str
    kind: str
    ident: int
    holder: int
    role: str
    config: dict[str, str]
    trainable: bool
    calls: tuple[CallRecord, ...] = ()
    node_counts: tuple[int, int] = (0, 0)
    is_custom: bool = False
    code: str = ""
    is_model: bool = False
    attributes: dict[str, Fact] = {}


class Endpoint(msgspec.Struct, frozen=True):
    """A declared input or output of a model. `shape` is None for unknown rank."""

    name: str
    shape: tuple[int | None, ...] | None
    dtype: str
    tensor: tuple[int, int, int]
    optional: bool = False


class Structure(msgspec.Struct, frozen=True, dict=True):
    """The static structure of a model. `compiled` has the `compile` arguments."""

    kind: str
    name: str
    trainable: bool
    input_structure: Any
    output_structure: Any
    inputs: tuple[Endpoint, ...]
    outputs: tuple[Endpoint, ...]
    layers: tuple[LayerRecord, ...]
    weights: tuple[Variable, ...]
    states: tuple[Variable, ...]
    compiled: dict[str, str] | None = None
    is_custom: bool = False
    code: str = ""
    attributes: dict[str, Fact] = {}

    @property
    def facts(self) -> list[dict[str, Fact]]:
        """The attributes of the model and of each layer."""
        return [self.attributes, *(layer.attributes for layer in self.layers)]

    @cached_property
    def members(self) -> dict[int, list[int]]:
        """Each layer's sublayers, if any, in order; -1 is the model."""
        members: dict[int, list[int]] = {}
        for index, layer in enumerate(self.layers):
            members.setdefault(layer.holder, []).append(index)
        return members


class Leak(msgspec.Struct, frozen=True):
    """An object of the original that can be reached from the clone.

    `path` leads to it from `layer` in the clone, `original_path` from `original_layer`; -1 is the model.
    """

    class_name: str
    layer: int
    path: str
    original_layer: int
    original_path: str


class TrainingResults(msgspec.Struct, frozen=True):
    """The results of two training batches and one test batch, then the weights."""

    results: tuple[str, ...] = ()
    weights: tuple[Leaf, ...] = ()
    failure: Failure | None = None


class Observation(msgspec.Struct, frozen=True):
    """The observation of one model. A part that was not requested is None.

    `structure` is the model as the cloner returned it; with a `copy_failure`, the original's weights did not fit it.
    `fresh_weights[i]` is False if weight i starts with the original's value, and not by chance. If the user passed in
    the model, `fresh_states` is the same for states. `leaks` has objects that the clone shares.

    If a clone differs, `null_model` is another build of the source, or a second observation of a live model.
    """

    structure: Structure
    inference: ModelRun | None = None
    training: ModelRun | None = None
    copy_failure: Failure | None = None
    copied_weights: tuple[str, ...] = ()
    fresh_weights: tuple[bool, ...] = ()
    fresh_states: tuple[bool, ...] = ()
    training_results: TrainingResults | None = None
    keeps_inputs: bool = False
    null_model: Observation | None = None
    is_live: bool = False
    leaks: tuple[Leak, ...] = ()


class Clone(msgspec.Struct, frozen=True):
    """The result of one cloner: a clone or a failure, and changes to the original.

    `original_after` and `inference_after` are the structure and a run of the original after cloning, None if unchanged.
    `warnings` has warnings that building the model did not give. `clone_rerun` is a run of the clone after all
    variables of the original were changed, None if equal; `original_rerun` is the reverse.
    """

    failure: Failure | None = None
    observation: Observation | None = None
    original_after: Structure | None = None
    inference_after: ModelRun | None = None
    second_clone: Observation | None = None
    second_clone_failure: Failure | None = None
    warnings: tuple[Failure, ...] = ()
    clone_rerun: ModelRun | None = None
    original_rerun: ModelRun | None = None


class Answer(msgspec.Struct, frozen=True):
    """The answer of a subject to one trial, or its `refusal` to build the model."""

    original: Observation | None = None
    refusal: Failure | None = None
    clones: dict[str, Clone] = {}
    seconds: float = 0.0


class Case(msgspec.Struct, frozen=True):
    """The input of a trial: a model's source, specs of its inputs, and a seed.

    `arguments` has expressions for the arguments of `clone_model` by name, `scopes` for the scopes in which the model
    is cloned. If `must_compile`, the clone of a compiled model must be compiled. With `keeps_inputs`, the clone must
    use the original's own input tensors.
    """

    source: str
    inputs: tuple[dict[str, Any], ...]
    batch: int = 3
    seed: int = 0
    arguments: dict[str, str] = {}
    keeps_inputs: bool = False
    must_compile: bool = True
    scopes: tuple[str, ...] = ()


class Request(msgspec.Struct, frozen=True):
    """A request for a trial of a case with some cloners, on a device.

    If `costly`, clone a second time, and train. The time limit of a cloner is `clone_seconds` or, if longer,
    `clone_factor` times the time to build and observe the model; if `clone_seconds` is 0, there is none.
    """

    case: Case
    cloners: tuple[str, ...] = ()
    costly: bool = False
    device: str | None = None
    clone_seconds: float = 0.0
    clone_factor: float = 0.0


class AuditedArgument(msgspec.Struct, frozen=True, omit_defaults=True):
    """The audit of a constructor argument: "lost" or "kept" by the config, or "cannot tell".

    `value` is the value that was tried, as Python code; `reason` says what is lost. A class without arguments has one
    record, with an empty name.
    """

    name: str
    answer: str
    value: str = ""
    reason: str = ""

    @property
    def label(self) -> str:
        return f"{self.name}={self.value}" if self.name else "any argument"


class AuditedClass(msgspec.Struct, frozen=True, omit_defaults=True):
    """The audits of a class's arguments, or the `reason` why there are none."""

    name: str
    arguments: tuple[AuditedArgument, ...] = ()
    reason: str = ""

    @property
    def lost_arguments(self) -> tuple[AuditedArgument, ...]:
        return tuple(argument for argument in self.arguments if argument.answer == "lost")
