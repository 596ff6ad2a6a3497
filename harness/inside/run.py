"""Runs or trains a model, and records the outputs of the model and its layers."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from msgspec.structs import replace

from clonediff.harness.inside.context import Context
from clonediff.harness.inside.description import Description
from clonediff.harness.inside.failures import failure
from clonediff.harness.inside.frameworks.interface import Framework
from clonediff.harness.inside.structure import leaves, number_leaves
from clonediff.harness.observation import CallOutputs, Failure, Leaf, ModelRun, TrainingResults


def run(description: Description, arrays: list[Any], context: Context, original: Any, training: bool) -> ModelRun:
    """Call a model, and record its outputs; `original` has the input structure."""
    framework, model, leaf = context.framework, description.model, functools.partial(_leaf, context, {})
    calls: list[tuple[Any, Any, list[Any], list[Any]]] = []

    def listen(layer: Any, result: Any) -> None:
        structure, tensors = number_leaves(result)
        # Masks are read immediately: later they may be gone, or another tensor's.
        calls.append((layer, structure, tensors, [framework.mask(tensor) for tensor in tensors]))

    error: Failure | None = None
    result: Any = None
    losses: list[Any] = []
    try:
        inputs = framework.inputs(original, arrays)
        framework.reseed(context.seed, context.seeds_backend)
        framework.listener, framework.failed_ids = listen, []
        result = model(inputs, training=training)
        losses = list(model.losses)
    except Exception as raised:  # an exception is an observation
        error = replace(failure(raised, function="run"), layer=_failed_layer(description, framework))
        result = None
    finally:
        framework.listener = None
    structure, outputs = number_leaves(result)
    counts: dict[int, int] = {}
    call_outputs = []
    for layer, nesting, tensors, masks in calls:
        number = description.layers.first_numbers.get(id(layer))
        if number is not None and all(map(framework.tensors.is_concrete, tensors)):
            call = counts[number] = counts.get(number, -1) + 1
            call_outputs.append(CallOutputs(number, call, tuple(map(leaf, tensors, masks)), nesting))
    return ModelRun(
        structure,
        tuple(leaf(tensor, framework.mask(tensor)) for tensor in outputs),
        tuple(call_outputs),
        tuple(leaf(loss).digest for loss in losses),
        error,
    )


def _failed_layer(description: Description, framework: Framework) -> int:
    numbers = description.layers.first_numbers
    return next((numbers[key] for key in framework.failed_ids if key in numbers), -1)


def train(
    description: Description, original: Any, arrays: list[Any], targets: list[list[Any]], context: Context
) -> TrainingResults:
    """Train a compiled model on the first of `targets` that it accepts."""
    failed_results = TrainingResults()
    for model_targets in targets:
        try:
            results = _train(description.model, original, arrays, model_targets, context)
        except Exception as error:  # an exception is an observation
            layer = _failed_layer(description, context.framework)
            failed_results = TrainingResults(failure=replace(failure(error, function="_train"), layer=layer))
        else:
            weights = map(context.framework.read, description.weights)
            return TrainingResults(results, tuple(map(context.digests.leaf, weights)))
    return failed_results


def _train(model: Any, original: Any, arrays: list[Any], targets: list[Any], context: Context) -> tuple[str, ...]:
    framework, results = context.framework, []
    model.run_eagerly, model.jit_compile = True, False  # compiling takes seconds and gives the same results
    framework.reseed(context.seed, context.seeds_backend)
    framework.failed_ids = []
    for step in (model.train_on_batch, model.train_on_batch, model.test_on_batch):
        result = step(framework.inputs(original, arrays), framework.pack(framework.structures(original)[1], targets))
        results += [context.digests.digest(np.asarray(value)) for value in leaves(result)]
    return tuple(results)


def _leaf(context: Context, cache: dict[int, Leaf], tensor: Any, mask: Any = None) -> Leaf:
    """The leaf of a tensor with its mask; `cache` has leaves by `id`."""
    if mask is not None:
        return replace(_leaf(context, cache, tensor), mask=_leaf(context, cache, mask).digest)
    if not context.framework.tensors.is_concrete(tensor):
        text = repr(tensor)[:40] if isinstance(tensor, (bool, int, float)) else ""
        return Leaf((), type(tensor).__name__, text)
    if id(tensor) not in cache:
        cache[id(tensor)] = context.digests.leaf(context.framework.tensors.array(tensor))
    return cache[id(tensor)]
