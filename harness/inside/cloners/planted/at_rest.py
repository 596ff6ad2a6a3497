"""Faults in a clone at rest: names, flags, policies, variables. And in the original, which is not to be touched."""

from __future__ import annotations

import warnings
from typing import Any, Callable

from .. import TrialContext
from .rewiring import layers_of

_KEPT: list[Any] = []


def trainable_forgotten(model: Any, clone: Any, context: TrialContext) -> None:
    """weights: lets every layer of the clone train, frozen or not."""
    for layer in [clone] + layers_of(clone, context):
        if not getattr(layer, "trainable", True):
            layer.trainable = True


def weights_copied(model: Any, clone: Any, context: TrialContext) -> None:
    """own: begins with the original's weights instead of fresh ones."""
    clone.set_weights(model.get_weights())


def first_values_changed(model: Any, clone: Any, context: TrialContext) -> None:
    """own: begins with ones where the original begins with zeros."""
    for weight in clone.weights:
        value = context.framework.read(weight)
        if "float" in str(value.dtype) and not value.any():
            context.framework.write(weight, value + 1)


def first_values_doubled(model: Any, clone: Any, context: TrialContext) -> None:
    """own: begins with twice the numbers."""
    for weight in clone.weights:
        context.framework.write(weight, context.framework.read(weight) * 2)


def first_values_not_drawn(model: Any, clone: Any, context: TrialContext) -> None:
    """own: begins with a half in each weight that the original draws by chance."""
    for weight in clone.weights:
        value = context.framework.read(weight)
        if "float" in str(value.dtype) and value.size > 1 and (value != value.flat[0]).any():
            context.framework.write(weight, value * 0 + value.dtype.type(0.5))


def layer_renamed(model: Any, clone: Any, context: TrialContext) -> None:
    """structure: gives the last layer another name."""
    layer = context.framework.members(clone)[-1]
    if "_name" in vars(layer):
        layer._name = layer.name + "_clone"
    else:
        layer.name = layer.name + "_clone"


def variable_renamed(model: Any, clone: Any, context: TrialContext) -> None:
    """weights: gives the last weight another name, and leaves its path as it was where it has one."""
    for variable in clone.weights[-1:]:
        name = "_name" if hasattr(variable, "_path") else "_handle_name"
        _written(variable, name, lambda text: text.replace(":0", "") + "_clone")


def variable_moved(model: Any, clone: Any, context: TrialContext) -> None:
    """weights: gives the last weight another path, and leaves its name as it was."""
    for variable in clone.weights[-1:]:
        if hasattr(variable, "_path"):
            _written(variable, "_path", lambda text: text + "_clone")
        else:
            _written(variable, "_handle_name", lambda text: "clone/" + text)


def policy_changed(model: Any, clone: Any, context: TrialContext) -> None:
    """structure: lets layers with weights compute in half precision."""
    for layer in layers_of(clone, context):
        if getattr(layer, "weights", None) and not context.framework.is_graph(layer):
            context.framework.set_policy(layer, "mixed_float16")
            break


def ragged_lost(model: Any, clone: Any, context: TrialContext) -> Any:
    """structure: takes dense tensors where the original takes ragged ones."""
    framework = context.framework
    ends = framework.ends(clone)[0]
    if not any(framework.end_options(end)[2] for end in ends):
        return None
    inputs = [framework.keras.Input(end.shape[1:], dtype=framework.dtype(end), name=end.name) for end in ends]
    return framework.keras.models.clone_model(clone, input_tensors=framework.packed(clone, inputs))


def own_class_lost(model: Any, clone: Any, context: TrialContext) -> Any:
    """structure: makes a plain model where the original is of a custom class."""
    if type(model).__name__.startswith("Own"):
        return context.framework.keras.Model(clone.inputs, clone.outputs, name=clone.name)
    return None


def own_option_lost(model: Any, clone: Any, context: TrialContext) -> None:
    """structure: gives the option of a custom class its default."""
    for each in [clone] + layers_of(clone, context):
        if type(each).__name__.startswith("Own"):
            each.factor = 1.0


def masking_support_lost(model: Any, clone: Any, context: TrialContext) -> None:
    """structure: no layer without weights passes masks on."""
    for layer in layers_of(clone, context):
        if not getattr(layer, "weights", None) and getattr(layer, "supports_masking", False):
            if "Masking" not in type(layer).__name__ and not context.framework.is_graph(layer):
                layer.supports_masking = False


def setting_lost(model: Any, clone: Any, context: TrialContext) -> None:
    """structure: halves every rate, size of a step or slope that a layer has, as if its config had lost it."""
    for layer in layers_of(clone, context):
        for name in ("rate", "stddev", "epsilon", "negative_slope", "momentum"):
            if type(getattr(layer, name, None)) is float:
                setattr(layer, name, getattr(layer, name) * 0.5)


def initializer_changed(model: Any, clone: Any, context: TrialContext) -> None:
    """structure: doubles a number that an initializer holds, when it has done its work."""
    for layer in layers_of(clone, context):
        held = vars(getattr(layer, "kernel_initializer", None) or context)
        for name in [name for name, value in held.items() if type(value) is float]:
            held[name] *= 2.0


def arguments_shared(model: Any, clone: Any, context: TrialContext) -> None:
    """own: gives a Lambda of the clone the very dict of arguments that the original's has."""
    for ours, theirs in zip(layers_of(clone, context), layers_of(model, context)):
        if getattr(theirs, "arguments", None):
            vars(ours)["arguments"] = theirs.arguments  # Keras would copy what is set


def original_marked(model: Any, clone: Any, context: TrialContext) -> None:
    """untouched: leaves a note in the last layer of the original."""
    model.layers[-1].note = "cloned"


def state_shared_between_clones(model: Any, clone: Any, context: TrialContext) -> None:
    """again: draws random numbers, from the second clone on, from the seed generators of the first."""
    first = vars(context).setdefault("first_clone", clone)
    if first is not clone:
        seed_shared(first, clone, context)


def seed_shared(model: Any, clone: Any, context: TrialContext) -> None:
    """own: draws random numbers from the original's seed generator."""
    for ours, theirs in zip(layers_of(clone, context), layers_of(model, context)):
        for mine, original in zip(getattr(ours, "_seed_generators", ()), getattr(theirs, "_seed_generators", ())):
            mine.state = original.state


def original_frozen(model: Any, clone: Any, context: TrialContext) -> None:
    """untouched: freezes the last layer of the original that has weights."""
    for layer in reversed(layers_of(model, context)):
        if getattr(layer, "weights", None):
            layer.trainable = not layer.trainable
            break


def original_called(model: Any, clone: Any, context: TrialContext) -> None:
    """untouched: calls the last layer of the original that has weights once more, on what it was called on."""
    framework = context.framework
    for layer in reversed(framework.members(model)):
        nodes = framework.layer_nodes(layer)
        if getattr(layer, "weights", None) and nodes and any(framework.arguments(nodes[-1])):
            args, kwargs = framework.arguments(nodes[-1])
            layer(*args, **kwargs)
            break


def original_used(model: Any, clone: Any, context: TrialContext) -> None:
    """untouched: calls a layer of nobody's on what the original gives."""
    for tensor in context.framework.ends(model)[1][:1]:
        context.framework.keras.layers.Activation("linear")(tensor)


def original_reset(model: Any, clone: Any, context: TrialContext) -> None:
    """untouched: sets the weights of the original to zero."""
    model.set_weights([weight * 0 for weight in model.get_weights()])


def cloning_warns(model: Any, clone: Any, context: TrialContext) -> None:
    """warned: warns as it makes a clone."""
    warnings.warn("the layer %r has no name of its own" % model.layers[-1].name, UserWarning, stacklevel=1)


def clones_kept(model: Any, clone: Any, context: TrialContext) -> None:
    """often: keeps every clone that it has made."""
    _KEPT.append(clone)


def clones_counted_again(model: Any, clone: Any, context: TrialContext) -> None:
    """often: takes longer for each clone than for the one before."""
    for _ in range(1000 * context.made):
        _nothing()


def later_clones_renamed(model: Any, clone: Any, context: TrialContext) -> None:
    """often: gives layers other names once it has made a few clones."""
    if context.made > 3:
        for layer in layers_of(clone, context):
            if layer.name == "y":
                _written(layer, "_name" if hasattr(layer, "_name") else "name", lambda name: name + "_again")


def _nothing() -> None:
    pass


def _written(thing: Any, name: str, change: Callable[[str], str]) -> None:
    if hasattr(thing, name):
        setattr(thing, name, change(getattr(thing, name)))
