"""What nobody says anything of: where a model is cloned in a state or in a way, and no one knows what is right.

Owns the rules, each with its reason and where Keras says so, or leaves it open. What cannot be done is none of them:
Keras is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from clonediff.strategies.chains import builds_within
from clonediff.strategies.graph import Graph, Layer, Ref, Way, all_layers, levels
from clonediff.strategies.kinds import CATALOGUE, Generation
from clonediff.strategies.kinds.custom import OWN_OPERATION
from clonediff.strategies.kinds.operations import is_operation
from clonediff.strategies.own_models import makes_parts
from clonediff.strategies.pruning import costs, costs_beside, pruned
from clonediff.strategies.states import LEARNED
from clonediff.strategies.targets import is_no_layer, targets
from clonediff.strategies.typing import infer

Rule = Callable[[Graph, set[str]], bool]
WayRule = Callable[[Graph, Way], bool]


def unsaid(graph: Graph) -> str:
    """Why nobody says what the clone of a graph's model is, in its state and its way; "" where somebody does."""
    done, way = {step.does for step in graph.state}, graph.way
    rules, way_rules = RULES[graph.generation], WAY_RULES[graph.generation]
    of_states = (reason for reason, holds in rules.items() if done and holds(graph, done))
    of_ways = (reason for reason, holds in way_rules.items() if way is not None and holds(graph, way))
    return next(of_states, "") or next(of_ways, "") or unsaid_losses(graph)


def unsaid_losses(graph: Graph) -> str:
    """Why nobody says what a model costs some of whose layers are called beside it; "" where somebody does."""
    return _BESIDE.get(graph.generation, "") if costs_beside(graph) else ""


# keras/engine/network.py:393 tells the losses of all calls of its layers, those beside the model among them.
_LOSSES = "which of the losses that its layers add a model of Keras 2.2 has"
_BESIDE: Mapping[Generation | None, str] = {"keras2": _LOSSES}


def _on_other_inputs(graph: Graph, done: set[str]) -> bool:
    way = graph.way
    if way is None:
        return False
    into_another = way != Way(inputs=way.inputs, recursive=way.recursive) or way.inputs in ("own", "made", "inner")
    return into_another or not done <= {"compile", "trainable", "set", "run"} or bool(_set_to(graph, "name"))


def _set_to(graph: Graph, name: str) -> list[Layer]:
    """The layers of which something of that name is set."""
    there = targets(graph)
    return [there[step.kind].layer for step in graph.state if step.kind in there and name in dict(step.args)]


_REMAT = {"remat", "clone remat"}


def _loses_masks(graph: Graph, done: set[str]) -> bool:
    return bool(_REMAT & done) and any(spec.mask for level in levels(graph) for specs in infer(level) for spec in specs)


def _learns_its_width(graph: Graph, done: set[str]) -> bool:
    looks_up = [kind for kind, learned in LEARNED.items() if "vocabulary" in learned]
    there = targets(graph)
    kinds = [step.kind for step in graph.state if step.does == "adapt" and step.kind in looks_up and step.kind in there]
    return any(there[kind].layer.arg("output_mode", "int") != "int" for kind in kinds if kind)


_SAME_TWICE = ("core", "merging", "noise", "convolution", "recurrent", "custom")


def _gives_other_gradients(layer: Layer) -> bool:
    """Whether a gradient is another one, if only in its last bit, where what the layer gives is computed twice."""
    kind = CATALOGUE.get(layer.kind)
    if kind is None:
        return False
    draws = kind.family != "recurrent" and "seed" in {*kind.options, *kind.more}
    draws = draws or any(layer.arg(name) is not None for name in ("dropout", "recurrent_dropout"))
    return draws or kind.family not in _SAME_TWICE


def _has(graph: Graph, kind: str) -> bool:
    return any(layer.kind == kind for layer in all_layers(graph))


_OF_ALL: dict[str, Rule] = {
    # `clone_model` (keras/src/models/cloning.py) says what layers and inputs its clone has, and what of its config.
    "what becomes of it in a model that is cloned into another": _on_other_inputs,
    # A class whose constructor makes layers is made again from its own config (keras/src/models/model.py:get_config).
    "what a constructor which makes layers would have to be told": lambda graph, done: (
        makes_parts(graph) and not done <= {"compile", "train", "run", "set weights"}
    ),
    # tf.recompute_grad draws random numbers once more, and sums in another order what the parts of a layer give.
    "which gradient there is, to the bit, in a RematScope": lambda graph, done: (
        bool(_REMAT & done) and any(map(_gives_other_gradients, all_layers(graph)))
    ),
    # Without a rate there is no generator (keras/src/layers/regularization/dropout.py:52), which a rate then lacks.
    "where a layer that was made without a rate has its random numbers from": lambda graph, done: any(
        not layer.arg("rate") for layer in _set_to(graph, "rate")
    ),
    # tf_keras/src/layers/preprocessing/index_lookup.py:926 refuses it: the layer has told another shape before.
    "how wide that is what a lookup gives which has learned its vocabulary after it was called": _learns_its_width,
    # keras/src/layers/normalization/spectral_normalization.py:69 draws random numbers of the dtype of the kernel.
    "what a SpectralNormalization is around a kernel that is quantized": lambda graph, done: (
        "quantize" in done and _has(graph, "SpectralNormalization")
    ),
    # tf_keras/src/engine/functional.py:901 puts the layer that adds to a loss behind all, with those hung on the model.
    "where among its layers a model has what is hung on it and what adds a loss": lambda graph, done: (
        "hang" in done and not done.isdisjoint(("add_loss", "add_metric"))
    ),
    # keras.saving.load_model wants them registered, or in a scope as it loads (guides/serialization_and_saving).
    "what a function or a class that is found in a scope becomes where a model is loaded": lambda graph, done: (
        {"objects", "load"} <= done
    ),
    # tf.recompute_grad (keras/src/backend/tensorflow/core.py:remat) gives tensors anew, without the mask of a tensor.
    "which masks a model has in a RematScope": _loses_masks,
}
_OF_KERAS2: dict[str, Rule] = {
    **_OF_ALL,
    # keras/engine/base_layer.py:457 has made the operations of a call by then, which a clone makes with what was set.
    "what a layer of Keras 2.2 computes of which something was set after it was called": lambda graph, done: (
        "set" in done
    ),
    # keras/utils/generic_utils.py:157 looks for the name of a function in scopes, and nowhere else.
    "where Keras 2.2 finds a function of one's own that is in no scope": lambda graph, done: "objects" in done,
    _LOSSES: lambda graph, done: "call" in done and any(map(costs, all_layers(graph))),
    # keras/backend/tensorflow_backend.py:1014 counts (`zero_debias`) in variables that are no weights.
    "how often a model of Keras 2.2 has moved its averages": lambda graph, done: (
        "train" in done and _has(graph, "BatchNormalization")
    ),
}
RULES: Mapping[Generation | None, Mapping[str, Rule]] = {
    None: _OF_ALL,
    "keras": _OF_ALL,
    "tf_keras": _OF_ALL,
    "keras2": _OF_KERAS2,
}
"""The reasons for each generation, each with whether it holds for a graph in whose state such things were done."""


def _makes_layers(way: Way) -> bool:
    """Whether a function of the way gives layers, or inserts some."""
    return way.clone_function is not None or (way.call_function is not None and way.call_function.change in _INSERT)


_INSERT = ("after", "before")


def _frozen(graph: Graph) -> bool:
    inner = [layer for layer in all_layers(graph) if layer.graph is not None]
    return not (all(level.trainable for level in levels(graph)) and all(layer.trainable for layer in inner))


def _asked_of_none(graph: Graph, way: Way) -> bool:
    needed = pruned(graph)
    called = [needed.layers[call.layer] for call in needed.calls]
    function = way.clone_function
    if function is not None and function.change == "raises":
        return not any(layer.kind == function.kind for layer in called)
    return way.wrong in ("function", "nothing", "call", "subclass") and all(
        layer.graph is None and is_no_layer(layer) for layer in called
    )


def _may_be_a_default(graph: Graph, way: Way) -> bool:
    function = way.clone_function
    dtypes = way.inputs in ("half", "double", "whole", "float")
    put_there = None
    if function is not None:
        dtypes = dtypes or (function.change, function.key) == ("set", "dtype")
        put_there = function.kind if function.change not in ("remade", "kept", "renamed", "set") else None
    return any(
        "training" in dict(call.kwargs) and (dtypes or level.layers[call.layer].kind == put_there)
        for level in levels(graph)
        for call in level.calls
    )


def _of_other_tensors(graph: Graph, way: Way) -> bool:
    """Whether a layer that takes a tensor and gives one comes in the place of one that takes or gives others."""
    function = way.clone_function
    there = function.kind if function is not None and function.change in ("replaced", "dense", "recurrent") else None
    return any(
        level.layers[call.layer].kind == there
        and not (len(call.args) == 1 and isinstance(call.args[0], Ref) and call.outputs == 1)
        for level in levels(graph)
        for call in level.calls
    )


def _renames_all(way: Way) -> bool:
    function = way.clone_function
    return function is not None and function.kind is None and function.change == "renamed"


_OF_ALL_WAYS: dict[str, WayRule] = {
    # keras/src/models/cloning.py copies `trainable` of no model; its docstring says nothing of it.
    "whether a layer that a function gives is frozen with the model": lambda graph, way: (
        _makes_layers(way) and _frozen(graph)
    ),
    # keras/src/models/cloning.py:_clone_functional_model asks about layers, in some releases about whatever it meets.
    "whether a function is asked about an operation of one's own": lambda graph, way: (
        (way.clone_function is not None or way.call_function is not None) and _has(graph, OWN_OPERATION)
    ),
    # A function that is not asked cannot be found wrong, nor raise (keras/src/ops/function.py:map_graph).
    "whether a function is looked at that nothing is asked of": _asked_of_none,
    # keras/src/models/cloning.py: "In a Sequential model, layers aren't called at model-construction time".
    "what a function is told of the calls of a Sequential": lambda graph, way: (
        way.call_function is not None and graph.sequential
    ),
    # keras/src/layers/layer.py:1086 writes the default of `training` into a call, as if the user had given it: False of
    # most layers, True of those that preprocess images.
    "whose `training` is in a call that is made of another layer, or on tensors of another dtype": lambda graph, way: (
        _may_be_a_default(graph, way)
    ),
    # keras/src/ops/function.py:213 pairs what it gives with what there was, tensor by tensor, as far as there are both.
    "what a layer that takes a tensor and gives one does in the place of one that does otherwise": _of_other_tensors,
    # keras/src/models/sequential.py:_maybe_rebuild begins at an input, tf_keras/src/models/cloning.py wraps the tensor.
    "where a Sequential begins that is given what a layer gave": lambda graph, way: (
        way.inputs in ("made", "inner") and graph.sequential
    ),
    # keras/src/models/sequential.py:get_config tells the batch that it was built for, or none.
    "for which batch a Sequential is built that the model's inputs build": lambda graph, way: (
        way.inputs == "batch" and builds_within(graph)
    ),
}
_WAYS_BEFORE_KERAS3: dict[str, WayRule] = {
    **_OF_ALL_WAYS,
    # tf_keras/src/layers/core/tf_op_layer.py: operations are layers, which a script has no other names for.
    "what an operation that is a layer is renamed to": lambda graph, way: (
        _renames_all(way) and any(is_operation(layer.kind) for layer in all_layers(graph))
    ),
    # "input_tensors: optional list of input tensors" (tf_keras/src/models/cloning.py): no dict, and no list in one.
    "how inputs are nested before Keras 3": lambda graph, way: way.inputs in ("listed", "turned"),
    # tf_keras/src/models/cloning.py makes an input around what is no tensor of Keras.
    "that numbers are no inputs before Keras 3": lambda graph, way: way.wrong == "numbers",
}
_WAYS_OF_KERAS2: dict[str, WayRule] = {
    **_WAYS_BEFORE_KERAS3,
    # keras/engine/network.py of 2.2 follows such a tensor back, and warns ("Model inputs must come from ...").
    "where a model of Keras 2.2 begins that is given what a layer gave": lambda graph, way: (
        way.inputs in ("made", "inner")
    ),
    # "ValueError: in case of invalid `model` argument value" is all that keras/models.py of 2.2 promises.
    "what Keras 2.2 says to an argument that is none": lambda graph, way: way.wrong not in ("", "no model", "models"),
}
WAY_RULES: Mapping[Generation | None, Mapping[str, WayRule]] = {
    None: _WAYS_BEFORE_KERAS3,
    "keras": _OF_ALL_WAYS,
    "tf_keras": _WAYS_BEFORE_KERAS3,
    "keras2": _WAYS_OF_KERAS2,
}
"""The reasons on ways for each generation, each with whether it holds for a graph that is cloned in one."""
