"""What is said of a model and its clones: plain data, written beside Keras and compared outside it.

Arrays are digests. Where two digests differ, `SubjectProcess.values` asks for the numbers behind them.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import msgspec

NO_LAYER = -2
"""Stands in a fact where a text names no layer, or several; numbers below it are of what the other model lacks."""


class Fact(msgspec.Struct, frozen=True, omit_defaults=True):
    """What an attribute holds: a value as text, or a reference to an object of the model.

    `layer` is the number of a layer in `Shape.layers`, -1 for the model; `variable` that of a weight or, counted on
    after the weights, of a state; `tensor` a symbolic tensor by layer, use and output. `met` is the layer and the path
    at which an object that can change was met first.

    `detail` is a digest of what `text` leaves out: the code of a class, the order of the keys of a dict. `named` has
    the parts of a text in which layers are named, each without the numbers that Keras counts in names, with the layer.
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
        """What it refers to."""
        return self.layer, self.variable, self.tensor, self.met


def same_fact(left: Fact | None, right: Fact | None) -> bool:
    """Whether two facts of one numbering of layers are equal, whatever the layers are called."""
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
    """One frame of a traceback; `file` starts at its package ("keras/src/models/cloning.py"), never at a root."""

    file: str
    function: str
    line: int


class Failure(msgspec.Struct, frozen=True):
    """An exception, or a warning; `layer` is the innermost of `Shape.layers` that was being called, -1 if not known."""

    type: str
    message: str
    frames: tuple[Frame, ...] = ()
    layer: int = -1


class Leaf(msgspec.Struct, frozen=True):
    """One tensor of a result. `digest` covers dtype, shape and bytes, any NaN equal to any NaN."""

    shape: tuple[int | None, ...]
    dtype: str
    digest: str
    mask: str | None = None


class StepSeen(msgspec.Struct, frozen=True):
    """What a call of a layer gave while the model ran; calls are in the order in which they returned.

    `layer` is its place in `Shape.layers`, `use` counts its calls in this run, `structure` is that of a `ModelRun`.
    """

    layer: int
    use: int
    outputs: tuple[Leaf, ...]
    structure: Any = 0


class ModelRun(msgspec.Struct, frozen=True):
    """A model called on the trial's inputs. `structure` has the nesting, its leaves numbered as in `outputs`."""

    structure: Any = None
    outputs: tuple[Leaf, ...] = ()
    steps: tuple[StepSeen, ...] = ()
    losses: tuple[str, ...] = ()
    failure: Failure | None = None


class Variable(msgspec.Struct, frozen=True):
    """A weight or a state, such as a seed. `ident` tells objects apart within one answer, nothing more.

    `name` is the whole path, `short_name` the name alone. `constraint` is that, and the regularizer, of the variable
    itself, and `watched` its own flag: a weight that is not watched has no gradient, though its layer is trainable.
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
    """A node: the arguments as a skeleton, in which a tensor is {"tensor": [layer, use, output]}."""

    args: Any
    kwargs: Any
    outputs: int
    masks: tuple[bool, ...] = ()


class LayerSeen(msgspec.Struct, frozen=True):
    """A layer, a nested model or an operation. `ident` is the same for one object met in two places.

    `inside` is the place of what holds it, -1 for the model itself; `role` its name there. `nodes` counts its inbound
    and outbound nodes, of other graphs, too. `own` says that its class is not one of Keras; `code` is then a digest
    of it. `attributes` has what it holds once both models have run; nothing at a place where it was met before.
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
    """An input or an output of a model as it is declared. `shape` is None where the number of axes is not known."""

    name: str
    shape: tuple[int | None, ...] | None
    dtype: str
    tensor: tuple[int, int, int]
    optional: bool = False


class Shape(msgspec.Struct, frozen=True, dict=True):
    """A model at rest. `compiled` has what it was compiled with, part by part; the rest is as of a layer."""

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
        """The layers that the model, for -1, and each layer that holds others has, in their order."""
        members: dict[int, list[int]] = {}
        for index, layer in enumerate(self.layers):
            members.setdefault(layer.inside, []).append(index)
        return members


class Leak(msgspec.Struct, frozen=True):
    """An object of the original that its clone reaches, a `thing` of that class.

    `path` is the way there from a `layer` of the clone, -1 for the model; `of_path` that from a layer of the original.
    """

    thing: str
    layer: int
    path: str
    of_layer: int
    of_path: str


class Trained(msgspec.Struct, frozen=True):
    """All that two calls of `train_on_batch` and one of `test_on_batch` returned, and the weights afterwards."""

    results: tuple[str, ...] = ()
    weights: tuple[Leaf, ...] = ()
    failure: Failure | None = None


class Observation(msgspec.Struct, frozen=True):
    """All that was observed of one model. A part that was not asked for is None.

    `shape` is the model as the cloner returned it; `copied` is set where the weights of the original could not be put
    into the clone. `fresh` is False for each weight that begins with the very value of the original's, where chance
    alone would not give that; `fresh_states` is that of the states of the clone of a live model.

    `leaks` has what of the original can be reached from the clone, beside what the shapes of both have.

    Where it `keeps_inputs`, the inputs of the model are to be those of its clone. `another` is another build of the
    source, or a `live` model observed again, where a clone differs: what it does not repeat is chance.
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
    """What one cloner did: a clone or a failure, and what it left of the original.

    `original_after` is the original's shape once the cloner was done, None where it is as it was before;
    `inference_after` likewise its run. `again` is a second clone; where none could be made, `again_failure` says why.
    `warned` is what it warned of, where building the model did not. `clone_dependent` is a run of the clone after all
    variables of the original were changed, where that gives something else; `original_dependent` is the reverse.
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
    """A subject's answer to one trial, and the seconds that it took."""

    original: Observation | None = None
    refused: Failure | None = None
    clones: dict[str, Clone] = {}
    seconds: float = 0.0


class Case(msgspec.Struct, frozen=True):
    """What a trial is of: source text and numbers, no graph.

    `arguments` has the expressions that `clone_model` is given, by name. Unless it `compiles`, the clone of a compiled
    model need not be compiled. Where it `keeps_inputs`, the clone is to have the inputs of the model itself. `within`
    has the expressions of the scopes in which it is cloned.
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
    """What a subject is asked for: a trial of a case by some cloners, on a device.

    If `costly`, it has a second clone and training. A cloner may take the first of `clone_seconds` or, if more,
    the second times what its model took; 0 is no limit.
    """

    case: Case
    cloners: tuple[str, ...] = ()
    costly: bool = False
    device: str | None = None
    clone_seconds: tuple[float, float] = (0.0, 0.0)


class ArgumentAudited(msgspec.Struct, frozen=True, omit_defaults=True):
    """An argument of a constructor, "lost", "kept" or "cannot tell"; with an empty name the class without any.

    `value` is Python, the value that shows it, `reason` what is lost.
    """

    name: str
    answer: str
    value: str = ""
    reason: str = ""

    @property
    def given(self) -> str:
        """The argument with its value."""
        return f"{self.name}={self.value}" if self.name else "whatever it is given"


class ClassAudited(msgspec.Struct, frozen=True, omit_defaults=True):
    """A class with its arguments; `reason` says why it was not audited."""

    name: str
    arguments: tuple[ArgumentAudited, ...] = ()
    reason: str = ""

    @property
    def lost(self) -> tuple[ArgumentAudited, ...]:
        """The arguments that its config loses."""
        return tuple(argument for argument in self.arguments if argument.answer == "lost")
