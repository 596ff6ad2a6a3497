"""What a clone takes from its original because no config has it: flags, names, the dtype policy, random streams."""

from __future__ import annotations

from typing import Any, Iterator

import numpy as np

from ....structure import leaves, map_leaves
from ..comparison import leads_to
from ..options import config_of, described
from .release import RELEASE, keras, tf

_FLAGS = ("_trainable", "_supports_masking", "_autocast", "_dynamic")
"""The attributes behind what can be set on a layer."""


def restore(original: Any, clone: Any, inside: bool = True) -> None:
    """Give `clone`, and with `inside` every layer in it, what the config of `original` did not carry."""
    pairs = side_by_side(original, clone, into_graphs=True) if inside else [(original, clone, True)]
    for one, other, in_graph in pairs:
        if type(one) is not type(other):
            continue
        _restore_flags(one, other)
        if not in_graph and other._name != one._name:
            other._name = one._name
        _restore_policy(one, other)
        shape = getattr(one, "_build_input_shape", None)
        if shape is not None and other._build_input_shape is None and not one.weights:
            other._build_input_shape = shape  # nobody builds what a wrapper holds and has no weights
        _restore_activity_regularizer(one, other)
        if vars(one).get("_auto_get_config") is False:  # its constructor was given what no config can tell
            other._auto_get_config = False
        _restore_floats(one, other)
        told = vars(one).get("_backward_layer_config")  # a Bidirectional has it from before anything was set
        if told is not None and not leads_to(told, RELEASE.is_part):
            other._backward_layer_config = map_leaves(lambda leaf: leaf, told)
        _restore_random_stream(one, other)


def build_alike(original: Any, clone: Any) -> None:
    """Build a layer for the shape that its original was built for, where that is known."""
    shape = getattr(original, "_build_input_shape", None)
    if shape is not None:
        with tf.name_scope(original.name):
            clone.build(shape)


def build_before_call(original: Any, clone: Any, node: Any) -> None:
    """Build a layer for the shapes that its original was built for, where the first call of this graph has others.

    That happens when the original was called, or built, elsewhere before: a merging layer decides then whether it
    aligns its inputs. `node` is that call of the original.
    """
    if type(clone) is not type(original) or clone.built or getattr(original.build, "_is_default", False):
        return
    called_on = _shapes_called_on(node)
    built_for = getattr(original, "_build_input_shape", None)
    if built_for is None:  # a merging layer does not keep it, but its first call
        built_for = _shapes_called_on(original._inbound_nodes[0])
    if called_on is None or built_for is None or _as_tuples(built_for) == called_on:
        return
    with tf.name_scope(original.name):
        clone.build(built_for)
    keras.layers.Layer.build(clone, built_for)  # a merging layer does not note that it is built
    vars(clone).setdefault("_build_input_shape", built_for)


def _shapes_called_on(node: Any) -> Any:
    """The shapes of the first argument of a call, for which a layer is built; None where it has none."""
    args, _ = RELEASE.arguments(node)
    tensors = tf.nest.flatten(args[0]) if args else []
    if not tensors or not all(map(RELEASE.is_symbolic, tensors)):
        return None
    return _as_tuples(tf.nest.map_structure(lambda tensor: tensor.shape, args[0]))


def _as_tuples(shape: Any) -> Any:
    if isinstance(shape, tf.TensorShape):
        return None if shape.rank is None else tuple(shape.as_list())
    return tuple(map(_as_tuples, shape)) if isinstance(shape, (list, tuple)) else shape


def build_inside(original: Any, clone: Any) -> None:
    """Build what a layer holds as in the original, where building the layer itself does not."""
    for one, other, _ in side_by_side(original, clone, into_graphs=True):
        if one is not original and one.built and not other.built:
            build_alike(one, other)


def build_uncalled(original: Any, clone: Any) -> None:
    """Build a layer that no call builds, as somebody built its original; refused where nothing tells for which shape.

    A layer keeps the shape only where its `build` hands it on, and a wrapper may keep that of what it holds. There the
    `input_spec` tells as much of it as the weights need.
    """
    if not original.built or clone.built:
        return
    shapes = [shape for shape in (getattr(original, "_build_input_shape", None), _shape_taken(original)) if shape]
    if not shapes and not original.weights:
        return
    failure = None
    for shape in shapes or [None]:
        try:
            clone.build(shape)
        except Exception as error:
            failure = error
        else:
            failure = None
            break
    if [weight.shape for weight in clone.weights] == [weight.shape for weight in original.weights]:
        return
    why = "neither it nor its `input_spec` tells for which shape"
    if shapes:
        why = "building its clone for %s %s" % (shapes[-1], "raises" if failure else "gives it other weights")
    raise ValueError(
        "%s was built outside of the graph, and %s. Clone the model before the layer is built, or call it in the graph."
        % (described(original), why)
    ) from failure


def build_held_first(original: Any, clone: Any) -> None:
    """Build what a wrapper holds before it is built itself, where it has the weights of that for its own.

    It was given a layer that was built; of another it finds no weights yet.
    """
    own = set(map(id, original._trainable_weights))
    if not own or not original.built or clone.built:
        return
    for one, other, _ in side_by_side(original, clone, into_graphs=False):
        weights = set(map(id, one._trainable_weights))
        if one is not original and weights and weights <= own and not other.built:
            build_alike(one, other)


def restore_names(original: Any, clone: Any) -> None:
    """Name weights and states as in the original, where a layer was built in another scope or counts its parts."""
    if not (original.built and clone.built):
        return
    if len(original.weights) == len(clone.weights):
        for weight, its in zip(original.weights, clone.weights):
            _name_alike(weight, its)
    for one, other, _ in side_by_side(original, clone, into_graphs=False):
        for state, its in zip(_states(one), _states(other)):
            _name_alike(state, its)


def _states(layer: Any) -> list[Any]:
    """The states of a recurrent layer, and of what a layer draws from."""
    state = getattr(getattr(_draws_from(layer), "_generator", None), "state", None)
    return [*tf.nest.flatten(vars(layer).get("_states")), state]


def _name_alike(variable: Any, other: Any) -> None:
    other = getattr(other, "_variable", other)
    if not hasattr(variable, "name") or not hasattr(other, "name"):
        return  # The table of a lookup layer poses as a weight.
    if variable.name != other.name and variable.shape == other.shape and hasattr(other, "_handle_name"):
        other._handle_name = variable.name


def _restore_floats(one: Any, other: Any) -> None:
    """What was cast to the floats of a session is in those of the session in which it was made.

    These are the factors of regularizers, and the numbers that a few layers keep, as the `theta` of a ThresholdedReLU.
    """
    for name, held in vars(one).items():
        cloned = vars(other).get(name)
        if type(cloned) is not type(held) or cloned is held:
            continue
        if isinstance(held, keras.regularizers.Regularizer):
            factors = {key: value for key, value in vars(held).items() if isinstance(value, np.ndarray)}
            vars(cloned).update((key, value.copy()) for key, value in factors.items())
        elif isinstance(held, np.ndarray) and RELEASE.comes_with_keras(type(one)) and held.dtype != cloned.dtype:
            vars(other)[name] = held.copy()


def _restore_policy(one: Any, other: Any) -> None:
    policy = getattr(one, "_dtype_policy", None)
    if policy is not None and other._dtype_policy.name != policy.name:
        other._set_dtype_policy(policy)


def _draws_from(layer: Any) -> Any:
    """The generator of Keras that a layer has. Another is its own matter."""
    return vars(layer).get("_random_generator")


def _restore_random_stream(one: Any, other: Any) -> None:
    """Continue a seeded stream where the original is; one without a seed stays the clone's own.

    What a layer draws from is made by its first call in training. Whether building a graph is one depends on the
    learning phase of the process, which `K.in_train_phase` sets. So it is made where the original has it.
    """
    source, target = _draws_from(one), _draws_from(other)
    if type(source) is not type(target):
        return
    generator = getattr(source, "_generator", None)
    if generator is not None and getattr(target, "_generator", None) is None:
        with tf.name_scope(one.name):
            target._maybe_init()
    if getattr(source, "_seed", None) is None:
        return
    target._seed = source._seed
    if generator is not None and target._generator is not None:
        target._generator.state.assign(generator.state)


def name_layers_alike(pairs: list[tuple[Any, Any]]) -> None:
    """Give layers that were numbered anew the names of their originals; a graph goes by the names of its layers."""
    for one, other in pairs:
        if RELEASE.is_graph(other):
            names = {its.name: mine.name for mine, its in zip(RELEASE.sublayers(one), RELEASE.sublayers(other))}
            keys = [key.rsplit("_ib-", 1) for key in other._network_nodes]
            other._network_nodes = {"%s_ib-%s" % (names.get(name, name), call) for name, call in keys}
    for one, other in pairs:
        other._name = one.name
        for name in ("input_names", "output_names", "_feed_input_names"):
            if RELEASE.is_graph(other) and hasattr(one, name):
                setattr(other, name, list(getattr(one, name)))


def _restore_flags(original: Any, clone: Any) -> None:
    """Set attributes of this layer alone: the `trainable` property would set it for everything below as well."""
    for flag in _FLAGS:
        if flag in vars(original) and vars(clone).get(flag) != vars(original)[flag]:
            vars(clone)[flag] = vars(original)[flag]


def _restore_activity_regularizer(original: Any, clone: Any) -> None:
    """Give the clone a regularizer like the original's, where no config told it."""
    regularizer = vars(original).get("_activity_regularizer")
    if regularizer is None or vars(clone).get("_activity_regularizer") is not None:
        return
    if hasattr(regularizer, "get_config") and hasattr(type(regularizer), "from_config"):
        # In containers of its own: a class may keep what its config holds.
        config = map_leaves(lambda leaf: leaf, config_of(regularizer))
        regularizer = type(regularizer).from_config(config)
    clone._activity_regularizer = regularizer


def _shape_taken(layer: Any) -> Any:
    """As much of the shape that a layer takes as its `input_spec` tells; None where that tells nothing."""
    specs = list(leaves(layer.input_spec))
    if len(specs) != 1 or not hasattr(specs[0], "axes"):
        return None
    (spec,) = specs
    rank = spec.ndim or spec.min_ndim
    if spec.shape is not None or rank is None:
        return spec.shape
    return tuple(spec.axes.get(axis, spec.axes.get(axis - rank)) for axis in range(rank))


def side_by_side(original: Any, clone: Any, into_graphs: bool) -> Iterator[tuple[Any, Any, bool]]:
    """The layer and what is inside, each with its counterpart, found by the attribute that holds it.

    The flag says whether they are inside a graph, which refers to its layers by their names.
    """
    seen: dict[int, Any] = {}
    waiting = [(original, clone, False)]
    while waiting:
        one, other, in_graph = waiting.pop()
        if id(one) in seen or one is other:
            continue
        seen[id(one)] = one
        yield one, other, in_graph
        in_graph = in_graph or RELEASE.is_graph(one) or RELEASE.is_graph(other)
        if in_graph and not into_graphs:
            continue
        for key, value in vars(one).items():
            waiting.extend((*pair, in_graph) for pair in _held(value, vars(other).get(key)))


def _held(value: Any, counterpart: Any) -> Iterator[tuple[Any, Any]]:
    if RELEASE.is_layer(value):
        if RELEASE.is_layer(counterpart):
            yield value, counterpart
    elif isinstance(value, (list, tuple)):
        if isinstance(counterpart, (list, tuple)) and len(value) == len(counterpart):
            for one, other in zip(value, counterpart):
                yield from _held(one, other)
    elif isinstance(value, dict) and isinstance(counterpart, dict):
        for key in value:
            if isinstance(key, (str, int)) and key in counterpart:
                yield from _held(value[key], counterpart[key])
