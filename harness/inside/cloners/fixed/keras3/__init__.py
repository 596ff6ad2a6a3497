"""The fixed cloner for Keras 3: `clone_model`, with the signature of `keras.models.clone_model`.

What it does otherwise than Keras, and why, stands in the modules beside this one: `graphs` repeats the calls of a
graph in the order in which they were made, `live_config` and `layers` make a layer again from its config with live
functions and sublayers in it, `carried_over` takes over what no config tells, `cloning` holds it together. `release`
knows what each release calls its parts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras

from .cloning import Keras3Cloning
from .matched_inputs import single_tensor, tensors_like_inputs
from .release import Functional

__all__ = ["clone_model"]


def clone_model(
    model: Any,
    input_tensors: Any = None,
    clone_function: Callable[[Any], Any] | None = None,
    call_function: Callable[..., Any] | None = None,
    recursive: bool = False,
    **kwargs: Any,
) -> Any:
    """Makes a model that computes the same function as another, with fresh weights of its own.

    Args:
        model: A Functional or Sequential model, or any layer or model that can be made again from its config.
        input_tensors: Optional. Symbolic tensors, or `InputLayer` objects, in the structure of `model.input`, to build
            the clone upon. A list or tuple of one stands for its tensor and the other way round, a tuple for a list;
            dictionaries go by their keys. A tensor that a layer made gives the clone a new input like it. The tensors,
            and the models they come from, stay as they are. By default the clone gets inputs of its own, named as the
            original's.
        clone_function: Optional `fn(layer)` that gives the layer, or model, to use in place of each layer of the model.
            It is asked once for each, and not for input layers, nor for operations that are not layers, such as those
            of `keras.ops`: these are always copied. Masks, and defaults like that of `training`, are then those of the
            layers that it gives. By default each layer is made anew from its config, around the same live functions and
            around clones of its sublayers; nested models are cloned as this function clones; and what a config does not
            tell is taken over: `trainable` at every level, `supports_masking`, the names of the layers inside it.
        call_function: Optional `fn(layer, *args, **kwargs)` that makes each call of a layer in place of
            `layer(*args, **kwargs)`, with the arguments that the call was given, and gives as many tensors. For
            Functional models only.
        recursive: Whether `clone_function` and `call_function` apply to the layers of nested models as well, or to a
            nested model as to one layer (the default). What a wrapper such as `TimeDistributed` holds belongs to the
            wrapper, and a Sequential hands no `call_function` on.

    Returns:
        A model of the same class, compiled if the original is. A layer, or nested model, that is used in several places
        of the original is one layer in the clone too. A class with a constructor of its own is asked to make the model
        again from its config; where it makes another graph, the graph is made again without it, and what the original
        holds is taken over. What was set on a model since leads into the graph of the clone.

        Functions are not copied: what a `Lambda`'s function captures, the clone's captures too. A variable that belongs
        to no layer and is used as a constant is copied with its value.

    Raises:
        ValueError: An argument does not fit the model, a function answers with something else than a layer or tensors,
            or nobody tells what a layer was made with: see the message. The original is as it was before; so it is
            where a function of the user raises, whose own error arrives.
        TypeError: The config of a layer is none, or is refused by the constructor.
    """
    cache = kwargs.pop("cache", None)
    if kwargs:
        raise ValueError(f"Unexpected keyword argument(s): {tuple(kwargs.keys())}")
    if not isinstance(model, keras.Layer):
        raise ValueError(f"Expected `model` argument to be a model or layer of Keras. Received: model={model!r}")
    for name, function in (("clone_function", clone_function), ("call_function", call_function)):
        if function is not None and not callable(function):
            raise ValueError(f"Expected `{name}` argument to be a callable. Received: {name}={function}")
    if isinstance(model, keras.Sequential):
        if call_function is not None:
            raise ValueError(
                "`call_function` argument is not supported with Sequential models. In a Sequential model, layers "
                "aren't called at model-construction time (they're merely listed). Use `call_function` with "
                "Functional models only. Received model of "
                f"type '{type(model).__name__}', with call_function={call_function}"
            )
        input_tensors = None if input_tensors is None else single_tensor(model, input_tensors)
    elif isinstance(model, Functional):
        input_tensors = None if input_tensors is None else tensors_like_inputs(model, input_tensors)
    elif clone_function is not None or input_tensors is not None or call_function is not None:
        raise ValueError(
            "Arguments `clone_function`, `input_tensors` and `call_function` are only supported for Sequential models "
            f"or Functional models. Received model of type '{type(model).__name__}', with "
            f"clone_function={clone_function}, input_tensors={input_tensors} and call_function={call_function}"
        )
    return Keras3Cloning(model, clone_function, call_function, recursive, cache).clone_root(input_tensors)
