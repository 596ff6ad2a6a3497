"""A `clone_model` that copies the objects of a model, and gives the copy new variables.

`copier` copies each object of a model once, in the way that `plans` defines for its class. `values` initializes the new
variables. The adapters `keras3` and `tf_keras` describe the objects of each generation. If the clone has other tensors,
layers or calls, `replay` repeats the calls of the model.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any


def clone_model(
    model: Any,
    input_tensors: Any = None,
    clone_function: Callable[[Any], Any] | None = None,
    call_function: Callable[..., Any] | None = None,
    recursive: bool = False,
    *,
    weights: bool = False,
    name: str | None = None,
    **kwargs: Any,
) -> Any:
    """Copies a model with new weights: the same layers, the same calls, the same function.

    It takes the arguments of `clone_model` of Keras 3 or `tf_keras`, and does what Keras documents. It copies objects
    without calling constructors or reading configs, so the clone has every attribute of the original, and shares
    objects where the original does. Subclassed models and single layers can be cloned, too. The clone has no reference
    to the original: a function that calls a layer of the model calls the clone's layer in the clone.

    Args:
        model: A model or layer, which is not changed.
        input_tensors: Optional. Symbolic tensors, or `InputLayer` objects, in the structure of `model.input`, on which
            to build the clone. By default the clone gets new inputs.
        clone_function: Optional `fn(layer)` that returns the layer, or model, that replaces each layer. It is called
            once for each layer, except input layers and operations such as those of `keras.ops`, which are copied.
        call_function: Optional `fn(layer, *args, **kwargs)` that replaces each call `layer(*args, **kwargs)`, and
            returns the same number of tensors. For Functional models of Keras 3.
        recursive: Whether `clone_function` and `call_function` apply to the layers of nested models as well.
        weights: Whether to copy the values of weights, states and the optimizer. By default, each weight is initialized
            by its layer. A weight keeps its value if it belongs to a function and no layer or, with a warning, if
            neither `build` nor `from_config` creates it. A vocabulary is kept; a mean and a variance are weights.
        name: The name of the clone; by default, the name of the original.

    Returns:
        A model of the same class, compiled if the original is, with its own optimizer. Results of runs (compiled
        functions, histories, dropout masks) are not copied; attributes of custom layers are.

    Raises:
        ValueError: An argument does not fit the model, an object in the model cannot be copied, or a changed setting
            requires other weights. The message says what to do. The original is unchanged.
    """
    if kwargs:
        raise ValueError(f"Unexpected keyword argument(s): {tuple(kwargs)}")
    for argument, function in (("clone_function", clone_function), ("call_function", call_function)):
        if function is not None and not callable(function):
            raise ValueError(f"Expected `{argument}` argument to be a callable. Received: {argument}={function}")
    packages = {base.__module__.partition(".")[0] for base in type(model).__mro__ if base.__name__ == "Layer"}
    arguments = {"input_tensors": input_tensors, "clone_function": clone_function, "call_function": call_function}
    if not packages & {"keras", "tf_keras"}:
        raise ValueError(f"Expected `model` argument to be a model or layer of Keras. Received: model={model!r}")
    if "tf_keras" in packages and call_function is not None:
        raise ValueError("`call_function` is an argument of Keras 3. Leave it out with tf_keras.")
    replay = importlib.import_module(".replay", __name__)
    adapter = importlib.import_module(".tf_keras" if "tf_keras" in packages else ".keras3", __name__)
    clone = replay.clone(adapter, model, weights, recursive, **arguments)
    if name is not None:
        setattr(clone, adapter.NAME_ATTRIBUTE, name)
    return clone
