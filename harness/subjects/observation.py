"""What a subject says of a model: plain data, written beside Keras and compared outside it.

Owns the shape of every answer that crosses from `harness/inside`, which writes it as plain JSON, to the checks.

Arrays travel as digests. Where two digests differ, `SubjectProcess.values` asks for the numbers behind them.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Literal, TypeAlias

import msgspec

Keeps: TypeAlias = Literal["", "inputs", "layers"]
"""What of the model that is cloned stands in its clone: its inputs, a tensor of a layer of its, layers that a
`clone_function` gives themselves, or layers and one of the former."""


class Frame(msgspec.Struct, frozen=True):
    """One frame of a traceback; `file` starts at its package ("keras/src/models/cloning.py"), never at a root."""

    file: str
    function: str
    line: int


class Failure(msgspec.Struct, frozen=True):
    """An exception: where it was raised and what it said."""

    type: str
    message: str
    frames: tuple[Frame, ...] = ()


class Leaf(msgspec.Struct, frozen=True):
    """One tensor of a result. `digest` covers dtype, shape and bytes, any NaN equal to any NaN."""

    shape: tuple[int | None, ...]
    dtype: str
    digest: str
    mask: str | None = None


class StepSeen(msgspec.Struct, frozen=True):
    """What one layer gave when it was called while the model ran, in the order in which calls returned.

    `layer` indexes `Observation.shape.layers`; `use` counts the calls of that layer in this run. `structure` has the
    nesting of what it gave, as that of a run has; 0 is a tensor by itself.
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
    """A weight or a state (a seed, a counter). `ident` tells objects apart within one answer, nothing more.

    `name` is as long as it gets; `short_name` is what the variable calls itself, where that is apart from its path.
    """

    name: str
    owner: int
    shape: tuple[int, ...]
    dtype: str
    trainable: bool
    ident: int
    value: str = ""
    short_name: str = ""


class CallSeen(msgspec.Struct, frozen=True):
    """A node: the arguments as a skeleton, in which a tensor is {"tensor": [layer, use, output]}."""

    args: Any
    kwargs: Any
    outputs: int
    masks: tuple[bool, ...] = ()


class LayerSeen(msgspec.Struct, frozen=True):
    """A layer, a nested model or an operation. `ident` is the same for one object met in two places.

    `inside` is the index of the model or wrapper that holds it, -1 for the model itself; `role` the name it has there.
    `nodes` counts its inbound and its outbound nodes, those of other graphs too. `own` says that its class is not one
    of Keras, and `model` that it is a model. `attributes` has what it holds, as `harness/inside/facts.py` writes it,
    once both have run; nothing at a place where its layer was met before.
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
    model: bool = False
    attributes: dict[str, str] = {}


class End(msgspec.Struct, frozen=True):
    """An input or an output of a model as it is declared. `shape` is None where the number of axes is not known."""

    name: str
    shape: tuple[int | None, ...] | None
    dtype: str
    tensor: tuple[int, int, int]
    optional: bool = False
    sparse: bool = False
    ragged: bool = False


class Shape(msgspec.Struct, frozen=True, dict=True):
    """A model at rest: everything that can be said of it without calling it.

    `compiled` has what it was compiled with, part by part, `compiled_with` the `ident` of its optimizer and of each
    metric it was given. `attributes` has what the model itself holds, as a layer has. `own` says that the model's class
    is not one of Keras.
    """

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
    compiled_with: tuple[int, ...] = ()
    nodes: tuple[int, int] = (0, 0)
    own: bool = False
    attributes: dict[str, str] = {}

    def __post_init__(self) -> None:
        """Refuse layers that hold each other in a circle: a holder comes before what it holds."""
        if not all(-1 <= layer.inside < index for index, layer in enumerate(self.layers)):
            raise ValueError("a layer is inside of one that does not come before it")

    @cached_property
    def held(self) -> dict[int, list[int]]:
        """The layers that the model, for -1, and each layer that holds others has, in their order."""
        held: dict[int, list[int]] = {}
        for index, layer in enumerate(self.layers):
            held.setdefault(layer.inside, []).append(index)
        return held


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
    """One step of gradient descent on the trial's batch."""

    loss: str = ""
    gradients: tuple[Leaf | None, ...] = ()
    weights: tuple[Leaf, ...] = ()
    failure: Failure | None = None


class Observation(msgspec.Struct, frozen=True):
    """All that is said of one model. A part that was not asked for is None.

    `shape` is the model as the cloner returned it; `copied` is set where the weights of the original could not be put
    into the clone. `fresh` is False for each weight that begins with the very value of the original's, where chance
    alone would not give that. `fresh_states` is that of the states of a clone whose original has run.
    `leaks` has what of the original can be reached from the clone, beside what is told of both.
    `brought` has what the weights of a clone begin with where it is to begin with the original's values.

    Where a clone is asked to be another model than the one that is cloned, this is the model that is asked for, and
    `cloned` the other; `keeps` says what of that one is to stand in the clone. `another` is another build of the same
    source, observed as a clone is where one differs: what it does not repeat is chance. A `live` model cannot be built
    again, and is observed again.
    """

    shape: Shape
    inference: ModelRun | None = None
    training: ModelRun | None = None
    copied: Failure | None = None
    copied_weights: tuple[str, ...] = ()
    fresh: tuple[bool, ...] = ()
    fresh_states: tuple[bool, ...] = ()
    brought: tuple[str, ...] | None = None
    trained: Trained | None = None
    cloned: Shape | None = None
    keeps: Keeps = ""
    another: Observation | None = None
    live: bool = False
    leaks: tuple[Leak, ...] = ()


class FunctionCall(msgspec.Struct, frozen=True):
    """A call of a clone function: on which of the model's layers, -1 for none; and if the clone has what it gave."""

    layer: int
    what: Literal["layer", "operation", "input"]
    there: bool


class FunctionCalls(msgspec.Struct, frozen=True):
    """What a clone function was asked; `wanted` are the layers that it is to be asked for."""

    calls: tuple[FunctionCall, ...] = ()
    wanted: tuple[int, ...] = ()


class Clone(msgspec.Struct, frozen=True):
    """What one cloner did: a clone or a failure, and what it left of the original.

    `original_after` is the original's shape once the cloner was done, None where it is as it was before;
    `inference_after` likewise its run. `again` is a second clone, `twice` the clone of the clone; where one could not
    be made, `again_failure` or `twice_failure` says why. `asked` is there where a clone function was given to
    `clone_model`. `warned` is what it warned of, where building the model did not.
    """

    failure: Failure | None = None
    observation: Observation | None = None
    original_after: Shape | None = None
    inference_after: ModelRun | None = None
    again: Observation | None = None
    again_failure: Failure | None = None
    twice: Observation | None = None
    twice_failure: Failure | None = None
    asked: FunctionCalls | None = None
    warned: tuple[Failure, ...] = ()


class Answer(msgspec.Struct, frozen=True):
    """A subject's answer to one trial, and the seconds that it took."""

    original: Observation | None = None
    refused: Failure | None = None
    clones: dict[str, Clone] = {}
    seconds: float = 0.0
