"""`clone_model` that copies: a clone is the objects of a model copied, with variables of its own.

`copier` copies what belongs to a model, each object once, as `kinds` says of its class. `values` gives the new
variables their values. `keras3` and `tf_keras` say what the objects of each Keras are. Where other tensors, layers or
calls are asked for, `replay` makes the calls of the model again.
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
    """Makes a copy of a model, with new weights: the same layers, the same calls, the same function.

    It takes what `clone_model` of the model's own Keras takes, Keras 3 or `tf_keras`, and does what that documents. It
    copies: no constructor of a layer runs, and no config is read. So the clone has every attribute of the original,
    and shares what the original shares. Subclassed models and single layers can be cloned, too. Nothing in the clone
    leads back to the original; a function that calls a layer of the model calls that of the clone in the clone.

    Args:
        model: A model or layer. It stays as it is.
        input_tensors: Optional. Symbolic tensors, or `InputLayer` objects, in the structure of `model.input`, to build
            the clone upon. By default the clone gets inputs of its own.
        clone_function: Optional `fn(layer)` that gives the layer, or model, to use in place of each layer. It is asked
            once for each layer, and not for input layers and operations such as those of `keras.ops`, which are copied.
        call_function: Optional `fn(layer, *args, **kwargs)` that makes each call of a layer in place of
            `layer(*args, **kwargs)`, and gives as many tensors. For Functional models of Keras 3.
        recursive: Whether `clone_function` and `call_function` apply to the layers of nested models as well.
        weights: Whether the clone gets the values of the weights and states of the model, and of its optimizer. By
            default each weight begins as its layer begins it. One that belongs to no layer of the model, as in a
            function, keeps its value; so does one that neither `build` nor the config makes, with a warning. A
            vocabulary that `adapt` has found is kept; a mean and a variance are weights.
        name: The name of the clone; by default that of the original.

    Returns:
        A model of the same class, compiled if the original is, with an optimizer of its own. What runs have left behind
        (compiled functions, histories, dropout masks) is not copied; what a user's layer keeps in its attributes is.

    Raises:
        ValueError: An argument does not fit the model, an object of it cannot be copied, or a setting was changed that
            takes other weights: the message names it, and says what to do. The original is as it was before.
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
    keras = importlib.import_module(".tf_keras" if "tf_keras" in packages else ".keras3", __name__)
    clone = replay.clone(keras, model, weights, recursive, **arguments)
    if name is not None:
        setattr(clone, keras.NAME, name)
    return clone
