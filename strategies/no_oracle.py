"""What nobody says anything of: where a model in a state is cloned, and no one knows what is right.

Owns the rules on states, each with its reason and where Keras says so, or leaves it open. What cannot be done is none
of them: Keras is asked.
"""

from __future__ import annotations

from collections.abc import Callable

from strategies.graph import Graph, Layer, Way, all_layers, levels
from strategies.kinds import CATALOGUE
from strategies.own_models import makes_parts
from strategies.pruning import costs
from strategies.states import LEARNED
from strategies.targets import targets
from strategies.typing import infer

Rule = Callable[[Graph, set[str]], bool]


def unsaid(graph: Graph) -> str:
    """Why nobody says what the clone of a graph's model is, in its state; "" where somebody does."""
    done = {step.does for step in graph.state}
    return next((reason for reason, holds in RULES.items() if done and holds(graph, done)), "")


def _on_other_inputs(graph: Graph, done: set[str]) -> bool:
    way = graph.way
    if way is None:
        return False
    into_another = way != Way(inputs=way.inputs, recursive=way.recursive) or way.inputs in ("own", "made")
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


RULES: dict[str, Rule] = {
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
    # keras/engine/base_layer.py:457 has made the operations of a call by then, which a clone makes with what was set.
    "what a layer of Keras 2.2 computes of which something was set after it was called": lambda graph, done: (
        "set" in done and graph.generation == "keras2"
    ),
    # keras/utils/generic_utils.py:157 looks for the name of a function in scopes, and nowhere else.
    "where Keras 2.2 finds a function of one's own that is in no scope": lambda graph, done: (
        "objects" in done and graph.generation == "keras2"
    ),
    # keras/engine/network.py:393 tells the losses of all calls of its layers, those beside the model among them.
    "which of the losses that its layers add a model of Keras 2.2 has": lambda graph, done: (
        "call" in done and graph.generation == "keras2" and any(map(costs, all_layers(graph)))
    ),
    # keras/backend/tensorflow_backend.py:1014 counts (`zero_debias`) in variables that are no weights.
    "how often a model of Keras 2.2 has moved its averages": lambda graph, done: (
        "train" in done and graph.generation == "keras2" and _has(graph, "BatchNormalization")
    ),
    # tf.recompute_grad (keras/src/backend/tensorflow/core.py:remat) gives tensors anew, without the mask of a tensor.
    "which masks a model has in a RematScope": _loses_masks,
}
"""The reasons, each with whether it holds for a graph in whose state something of that name was done."""
