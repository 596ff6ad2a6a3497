"""Cases in which the right clone is undefined, where a model is prepared or cloned with arguments.

Owns the rules, each with its reason and where Keras says so, or leaves it open. What cannot be done is none of them:
Keras is asked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from clonediff.strategies.asking import infer
from clonediff.strategies.chains import builds_within
from clonediff.strategies.clone_arguments import OTHER_SHAPES
from clonediff.strategies.custom_models import makes_parts
from clonediff.strategies.graph import CloneArguments, CloneChange, Graph, Layer, Ref, all_layers, levels
from clonediff.strategies.kinds import CATALOGUE, Generation
from clonediff.strategies.kinds.custom import NOTING, OWN_OPERATION
from clonediff.strategies.kinds.operations import is_operation
from clonediff.strategies.kinds.operations.forms import form_of
from clonediff.strategies.preparations import LEARNED
from clonediff.strategies.pruning import first_called_beside, pruned
from clonediff.strategies.targets import is_no_layer, targets

_EACH: tuple[Generation | None, ...] = (None, "keras", "tf_keras")
_BEFORE_KERAS3: tuple[Generation | None, ...] = (None, "tf_keras")


class Rule(NamedTuple):
    """A reason, and whether it `holds` for a graph of these generations, what is done to it and its clone arguments."""

    reason: str
    holds: Callable[[Graph, set[str], CloneArguments], bool]
    generations: tuple[Generation | None, ...] = _EACH


def unsaid(graph: Graph) -> str:
    """Why nobody says what the clone of a graph's model is, prepared and with its arguments; "" where somebody does."""
    done, arguments = {each.does for each in graph.preparations}, graph.clone_arguments or CloneArguments()
    rules = (rule for rule in RULES if graph.generation in rule.generations)
    return next((rule.reason for rule in rules if rule.holds(graph, done, arguments)), "") or unsaid_beside(graph)


def unsaid_beside(graph: Graph) -> str:
    """Why nobody says what comes of calls of a model's layers beside the model; "" where somebody does."""
    return _NOTED if first_called_beside(graph, NOTING) else ""


# A layer is called anew in a clone (keras/src/models/cloning.py), as often as in the model.
_NOTED = "what a layer knows that has noted it in a call which the model leaves out"
_REMAT = {"remat", "clone remat"}
_SAME_TWICE = ("core", "merging", "noise", "convolution", "recurrent", "custom")


def _on_other_inputs(graph: Graph, done: set[str], arguments: CloneArguments) -> bool:
    if not done or arguments == CloneArguments():
        return False
    without_functions = CloneArguments(inputs=arguments.inputs, recursive=arguments.recursive)
    into_another = arguments != without_functions or arguments.inputs in ("own", "made", "inner")
    return into_another or not done <= {"compile", "trainable", "set", "run"} or bool(_set_to(graph, "name"))


def _set_to(graph: Graph, name: str) -> list[Layer]:
    """The layers of which something of that name is set."""
    there = targets(graph)
    return [there[each.kind].layer for each in graph.preparations if each.kind in there and name in dict(each.args)]


def _learns_its_width(graph: Graph) -> bool:
    looks_up = [kind for kind, learned in LEARNED.items() if "vocabulary" in learned]
    there = targets(graph)
    adapted = [each.kind for each in graph.preparations if each.does == "adapt"]
    kinds = [kind for kind in adapted if kind in looks_up and kind in there]
    return any(there[kind].layer.arg("output_mode", "int") != "int" for kind in kinds if kind)


def _gives_other_gradients(layer: Layer) -> bool:
    """Whether a gradient is another one, if only in its last bit, where what the layer gives is computed twice."""
    kind = CATALOGUE.get(layer.kind)
    if kind is None:
        return False
    draws = kind.family != "recurrent" and "seed" in {*kind.options, *kind.more}
    draws = draws or any(layer.arg(name) is not None for name in ("dropout", "recurrent_dropout"))
    return draws or kind.family not in _SAME_TWICE


def _drops(layer: Layer) -> bool:
    """Whether it is a cell that drops numbers."""
    return layer.kind.endswith("Cell") and any(layer.arg(name) for name in ("dropout", "recurrent_dropout"))


def _has(graph: Graph, kind: str) -> bool:
    return any(layer.kind == kind for layer in all_layers(graph))


def _makes_layers(arguments: CloneArguments) -> bool:
    """Whether a function among the arguments gives layers, or inserts some."""
    inserts = arguments.call_function is not None and arguments.call_function.change in ("after", "before")
    return arguments.clone_function is not None or inserts


def _frozen(graph: Graph) -> bool:
    inner = [layer for layer in all_layers(graph) if layer.graph is not None]
    return not (all(level.trainable for level in levels(graph)) and all(layer.trainable for layer in inner))


def _asked_of_none(graph: Graph, done: set[str], arguments: CloneArguments) -> bool:
    needed = pruned(graph)
    called = [needed.layers[call.layer] for call in needed.calls]
    function = arguments.clone_function
    if function is not None and function.change == "raises":
        return not any(layer.kind == function.kind for layer in called)
    return arguments.wrong in ("function", "nothing", "call", "subclass") and all(
        layer.graph is None and is_no_layer(layer) for layer in called
    )


_AS_IT_IS: tuple[CloneChange, ...] = ("remade", "kept", "renamed", "set", "channels first")
_OF_ONE_TENSOR: tuple[CloneChange, ...] = ("unwrapped", "replaced", "dense", "recurrent")


def _may_be_a_default(graph: Graph, done: set[str], arguments: CloneArguments) -> bool:
    function = arguments.clone_function
    dtypes = arguments.inputs in ("half", "double", "whole", "float")
    put_there = None
    if function is not None:
        dtypes = dtypes or (function.change, function.key) == ("set", "dtype")
        put_there = function.kind if function.change not in _AS_IT_IS else None
    return any(
        "training" in dict(call.kwargs) and (dtypes or level.layers[call.layer].kind == put_there)
        for level in levels(graph)
        for call in level.calls
    )


def _of_others(graph: Graph, done: set[str], arguments: CloneArguments) -> bool:
    """Whether a layer that takes a tensor and gives one comes in the place of one that takes or gives others."""
    function = arguments.clone_function
    there = function.kind if function is not None and function.change in _OF_ONE_TENSOR else None
    return any(
        level.layers[call.layer].kind == there
        and not (len(call.args) == 1 and isinstance(call.args[0], Ref) and call.outputs == 1)
        for level in levels(graph)
        for call in level.calls
    )


def _renames_all(arguments: CloneArguments) -> bool:
    function = arguments.clone_function
    return function is not None and function.kind is None and function.change == "renamed"


def _holds_a_shape(graph: Graph) -> bool:
    """Whether the script makes a matrix for the shape of a tensor ("definite"), which the clone has as it is."""
    return any("definite" in word for layer in all_layers(graph) for word in form_of(layer.kind).of)


RULES: tuple[Rule, ...] = (
    # -- what is done to the model before
    # `clone_model` (keras/src/models/cloning.py) says what layers and inputs its clone has, and what of its config.
    Rule("what becomes of it in a model that is cloned into another", _on_other_inputs),
    # A class whose constructor makes layers is made again from its own config (keras/src/models/model.py:get_config).
    Rule(
        "what a constructor which makes layers would have to be told",
        lambda graph, done, arguments: makes_parts(graph) and not done <= {"compile", "train", "run", "set weights"},
    ),
    # tf.recompute_grad draws random numbers once more, and sums in another order what the parts of a layer give.
    Rule(
        "which gradient there is, to the bit, in a RematScope",
        lambda graph, done, arguments: bool(_REMAT & done) and any(map(_gives_other_gradients, all_layers(graph))),
    ),
    # Without a rate there is no generator (keras/src/layers/regularization/dropout.py:52), which a rate then lacks.
    Rule(
        "where a layer that was made without a rate has its random numbers from",
        lambda graph, done, arguments: any(not layer.arg("rate") for layer in _set_to(graph, "rate")),
    ),
    # tf_keras/src/layers/preprocessing/index_lookup.py:926 refuses it: the layer has told another shape before.
    Rule(
        "how wide that is what a lookup gives which has learned its vocabulary after it was called",
        lambda graph, done, arguments: _learns_its_width(graph),
    ),
    # keras/src/layers/normalization/spectral_normalization.py:69 draws random numbers of the dtype of the kernel.
    Rule(
        "what a SpectralNormalization is around a kernel that is quantized",
        lambda graph, done, arguments: "quantize" in done and _has(graph, "SpectralNormalization"),
    ),
    # tf_keras/src/engine/functional.py:901 puts the layer that adds to a loss behind all, with those hung on the model.
    Rule(
        "where among its layers a model has what is hung on it and what adds a loss",
        lambda graph, done, arguments: "hang" in done and not done.isdisjoint(("add_loss", "add_metric")),
    ),
    # keras/src/layers/rnn/dropout_rnn_cell.py:40 draws a mask once, until the layer around the cell has it drawn anew.
    Rule(
        "which numbers a cell drops that is in no recurrent layer, and has trained",
        lambda graph, done, arguments: (
            not done.isdisjoint(("train", "run"))
            and any(_drops(layer) for level in levels(graph) for layer in level.layers)
        ),
    ),
    # keras.saving.load_model wants them registered, or in a scope as it loads (guides/serialization_and_saving).
    Rule(
        "what a function or a class that is found in a scope becomes where a model is loaded",
        lambda graph, done, arguments: {"objects", "load"} <= done,
    ),
    # tf.recompute_grad (keras/src/backend/tensorflow/core.py:remat) gives tensors anew, without the mask of a tensor.
    Rule(
        "which masks a model has in a RematScope",
        lambda graph, done, arguments: (
            bool(_REMAT & done)
            and any(spec.mask for level in levels(graph) for gives in infer(level) for spec in gives)
        ),
    ),
    # -- what `clone_model` is given beside the model
    # keras/src/models/cloning.py copies `trainable` of no model; its docstring says nothing of it.
    Rule(
        "whether a layer that a function gives is frozen with the model",
        lambda graph, done, arguments: _makes_layers(arguments) and _frozen(graph),
    ),
    # keras/src/models/cloning.py:_clone_functional_model asks about layers, in some releases about whatever it meets.
    Rule(
        "whether a function is asked about an operation of one's own",
        lambda graph, done, arguments: (
            (arguments.clone_function is not None or arguments.call_function is not None) and _has(graph, OWN_OPERATION)
        ),
    ),
    # keras/src/ops/function.py:map_graph hands on what is no tensor of Keras as it is.
    Rule(
        "what becomes of a number that the script has computed from a shape, where shapes are others",
        lambda graph, done, arguments: (_makes_layers(arguments) or bool(arguments.inputs)) and _holds_a_shape(graph),
    ),
    # A function that is not asked cannot be found wrong, nor raise (keras/src/ops/function.py:map_graph).
    Rule("whether a function is looked at that nothing is asked of", _asked_of_none),
    # keras/src/models/cloning.py: "In a Sequential model, layers aren't called at model-construction time".
    Rule(
        "what a function is told of the calls of a Sequential",
        lambda graph, done, arguments: arguments.call_function is not None and graph.sequential,
    ),
    # keras/src/layers/layer.py:1086 writes the default of `training` into a call, as if the user had given it: False of
    # most layers, True of those that preprocess images.
    Rule(
        "whose `training` is in a call that is made of another layer, or on tensors of another dtype",
        _may_be_a_default,
    ),
    # keras/src/ops/function.py:213 pairs what it gives with what there was, tensor by tensor, as far as there are both.
    Rule("what a layer that takes a tensor and gives one does in the place of one that does otherwise", _of_others),
    # keras/src/models/sequential.py:_maybe_rebuild begins at an input, tf_keras/src/models/cloning.py wraps the tensor.
    Rule(
        "where a Sequential begins that is given what a layer gave",
        lambda graph, done, arguments: arguments.inputs in ("made", "inner") and graph.sequential,
    ),
    # keras/src/models/sequential.py:get_config tells the shape that it was built for, with its batch, or none.
    Rule(
        "for which batch or shape a Sequential is built that the model's inputs build",
        lambda graph, done, arguments: arguments.inputs in OTHER_SHAPES and builds_within(graph),
    ),
    # tf_keras/src/layers/core/tf_op_layer.py: operations are layers, which a script has no other names for.
    Rule(
        "what an operation that is a layer is renamed to",
        lambda graph, done, arguments: (
            _renames_all(arguments) and any(is_operation(layer.kind) for layer in all_layers(graph))
        ),
        _BEFORE_KERAS3,
    ),
    # "input_tensors: optional list of input tensors" (tf_keras/src/models/cloning.py): no dict, and no list in one.
    Rule(
        "how inputs are nested before Keras 3",
        lambda graph, done, arguments: arguments.inputs in ("listed", "turned"),
        _BEFORE_KERAS3,
    ),
    # tf_keras/src/models/cloning.py makes an input around what is no tensor of Keras.
    Rule(
        "that numbers are no inputs before Keras 3",
        lambda graph, done, arguments: arguments.wrong == "numbers",
        _BEFORE_KERAS3,
    ),
)
