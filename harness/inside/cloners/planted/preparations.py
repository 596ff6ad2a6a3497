"""Planted faults in what a clone owes to what was done to the model before it was cloned."""

from __future__ import annotations

from typing import Any

from .. import TrialContext
from .rewiring import layers_of


def prepared_not_compiled(original: Any, clone: Any, context: TrialContext) -> None:
    """structure: the clone of a compiled model is not compiled."""
    if getattr(original, "compiled", False):
        clone.compiled = False


def prepared_compiled_otherwise(original: Any, clone: Any, context: TrialContext) -> None:
    """structure: the clone is compiled without the loss."""
    if getattr(original, "compiled", False):
        clone.compile(optimizer=type(clone.optimizer).from_config(clone.optimizer.get_config()))


def prepared_fitted_otherwise(original: Any, clone: Any, context: TrialContext) -> None:
    """training: `fit` of the clone computes another loss, as the class of the original may."""
    _with_methods(clone, compute_loss=_half_the_loss)


def prepared_compiled_by_hand_otherwise(original: Any, clone: Any, context: TrialContext) -> None:
    """training: the clone of a compiled model learns at twice the rate once it is compiled by hand."""
    _with_methods(clone, compile=_twice_as_fast)


def prepared_fit_refused(original: Any, clone: Any, context: TrialContext) -> None:
    """training: `fit` of the clone refuses whatever it is given."""
    _with_methods(clone, fit=_refused)


def prepared_fit_by_other_names(original: Any, clone: Any, context: TrialContext) -> None:
    """training: `fit` of the clone takes targets, and gives results, by other names."""
    if not hasattr(clone, "output_names"):
        return
    clone.output_names = ["other_" + name for name in clone.output_names]
    if getattr(original, "compiled", False):
        clone.compile_from_config(clone.get_compile_config())


def prepared_optimizer_shared(original: Any, clone: Any, context: TrialContext) -> None:
    """own: the clone is compiled with the original's optimizer."""
    if getattr(original, "compiled", False):
        clone.optimizer = original.optimizer


def prepared_optimizer_stepped(original: Any, clone: Any, context: TrialContext) -> None:
    """untouched: the original's optimizer is a step on."""
    if getattr(original, "optimizer", None) is not None:
        original.optimizer.iterations.assign(original.optimizer.iterations + 1)


def prepared_states_copied(original: Any, clone: Any, context: TrialContext) -> None:
    """own: recurrent layers begin with the states that the original's are in."""
    framework = context.framework
    for (mine, _), (state, _) in zip(framework.states(clone), framework.states(original)):
        value = framework.read(state)
        if value.dtype.kind == "f":
            framework.write(mine, value)


def prepared_weight_thawed(original: Any, clone: Any, context: TrialContext) -> None:
    """weights: a weight that was frozen by itself trains again."""
    for layer in layers_of(clone, context):
        if getattr(layer, "trainable", False):
            for variable in getattr(layer, "_trainable_variables", ()):
                variable.trainable = True


def prepared_call_forgotten(original: Any, clone: Any, context: TrialContext) -> None:
    """untouched: the last call of a layer, where it was called more than once, is forgotten."""
    for layer in [original] + layers_of(original, context):
        nodes: list[Any] = getattr(layer, "_inbound_nodes", None) or []
        if len(nodes) > 1:
            nodes.pop()


def prepared_run_again(original: Any, clone: Any, context: TrialContext) -> None:
    """untouched: the original's seeds and counts are further on."""
    for state, _ in context.framework.states(original):
        context.framework.write(state, context.framework.read(state) + 1)


def prepared_hung_lost(original: Any, clone: Any, context: TrialContext) -> Any:
    """structure: a layer that was hung on the model is no part of the clone."""
    if hasattr(original, "extra"):
        return type(clone)(clone.inputs, clone.outputs, name=clone.name)
    return None


def prepared_additions_lost(original: Any, clone: Any, context: TrialContext) -> Any:
    """structure: what was added to the model is no part of the clone."""
    if any(type(layer).__name__ in ("AddLoss", "AddMetric") for layer in layers_of(clone, context)):
        return type(clone)(clone.inputs, clone.outputs, name=clone.name)
    return None


def prepared_policy_taken(original: Any, clone: Any, context: TrialContext) -> None:
    """structure: layers have the policy that is set now, and not the one that was when the original's were made."""
    now = context.framework.keras.layers.Layer()
    for layer in layers_of(clone, context):
        if not context.framework.is_graph(layer):
            context.framework.set_policy(layer, context.framework.policy(now))


def prepared_session_taken(original: Any, clone: Any, context: TrialContext) -> None:
    """structure: layers have the image data format that is set now, and not the one that their configs tell."""
    now = context.framework.keras.backend.image_data_format()
    for layer in layers_of(clone, context):
        if hasattr(layer, "data_format"):
            layer.data_format = now


def prepared_function_lost(original: Any, clone: Any, context: TrialContext) -> None:
    """outputs: layers have no activation, as if it could not be found."""
    for layer in layers_of(clone, context):
        if callable(getattr(layer, "activation", None)):
            layer.activation = context.framework.keras.activations.linear


def prepared_not_adapted(original: Any, clone: Any, context: TrialContext) -> None:
    """outputs: a Normalization has the mean and the variance of one that has seen nothing."""
    for layer in layers_of(clone, context):
        if hasattr(layer, "adapt_mean"):
            layer.mean, layer.variance = layer.mean * 0, layer.variance * 0 + 1


def prepared_alpha_lost(original: Any, clone: Any, context: TrialContext) -> None:
    """outputs: the update of low rank counts by itself."""
    for layer in layers_of(clone, context):
        if getattr(layer, "lora_enabled", False):
            layer.lora_alpha = layer.lora_rank


def prepared_not_quantized(original: Any, clone: Any, context: TrialContext) -> None:
    """structure: layers have a policy without quantization."""
    for layer in layers_of(clone, context):
        if getattr(layer, "quantization_mode", None) is not None:
            context.framework.set_policy(layer, "float32")


def _with_methods(clone: Any, **methods: Any) -> None:
    """Give a clone a class that is called as its own is, and has other methods."""
    own = type(clone)
    clone.__class__ = type(
        own.__name__, (own,), dict(methods, __module__=own.__module__, __qualname__=own.__qualname__)
    )


def _half_the_loss(clone: Any, *args: Any, **kwargs: Any) -> Any:
    return super(type(clone), clone).compute_loss(*args, **kwargs) * 0.5


def _twice_as_fast(clone: Any, optimizer: Any = "rmsprop", **arguments: Any) -> None:
    super(type(clone), clone).compile(optimizer, **arguments)
    clone.optimizer.learning_rate = 2.0 * float(clone.optimizer.learning_rate)


def _refused(*args: Any, **kwargs: Any) -> Any:
    raise ValueError("this clone is not to be trained")
