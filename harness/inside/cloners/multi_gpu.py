"""The users' own scenario: `multi_gpu_model(model, gpus=2, cpu_relocation=True)`, which clones the model it is given.

The clone that it puts on the CPU, and gives each GPU a slice of the batch of, is what the checks are shown. The model
around it has other layers, other nodes, and computes on other shapes: to compare that bit for bit, or call by call,
would blame `clone_model` for what slicing does. That the model around it is there, has as many outputs and no weights
but the clone's, is seen to here.
"""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Any, Callable, Iterator

if TYPE_CHECKING:
    from . import TrialContext

SIMULATED = "the placement on two GPUs is simulated: everything is on the CPU"
ITS_OWN = "multi_gpu_model cannot replicate this model, cloned or not (%s): only the clone it made is compared"
_DEVICES = ["/device:CPU:0", "/device:GPU:0", "/device:GPU:1"]


def multi_gpu(model: Any, context: TrialContext) -> Any:
    """What `multi_gpu_model` replicates, cloned by the release's own `clone_model`."""
    return _relocated(model, context, None)


def multi_gpu_fixed(model: Any, context: TrialContext) -> Any:
    """What `multi_gpu_model` replicates, cloned by our fixed cloner."""
    return _relocated(model, context, context.framework.fixed())


def _relocated(model: Any, context: TrialContext, clone_model: Callable[[Any], Any] | None) -> Any:
    framework: Any = context.framework
    replicate = getattr(framework.keras.utils, "multi_gpu_model", None)
    if replicate is None:
        raise LookupError("this release has no `multi_gpu_model`: it went with TensorFlow 2.4 and Keras 2.4")
    module = sys.modules[replicate.__module__]
    cloning = module if hasattr(module, "clone_model") else sys.modules[framework.keras.models.clone_model.__module__]
    clone_model = clone_model or cloning.clone_model
    clones: list[Any] = []
    arguments: list[tuple[Any, dict[str, Any]]] = []

    def relocate(each: Any) -> Any:
        clone = clone_model(each)
        clones.append(clone)
        arguments.extend((node, dict(node.arguments or {})) for node in _nodes(framework, clone))
        return clone

    with contextlib.ExitStack() as scopes:
        if sum(device.startswith("gpu") for device in framework.devices()) < 2:
            if SIMULATED not in context.notes:
                context.notes.append(SIMULATED)
            scopes.enter_context(_replaced(module, "_get_available_devices", lambda: list(_DEVICES)))
        scopes.enter_context(_replaced(cloning, "clone_model", relocate))
        try:
            parallel = replicate(model, gpus=2, cpu_relocation=True)
        except Exception as error:
            if not clones or not _fails_without_cloning(replicate, model, context, error):
                raise
            # Slices have fewer known dimensions than inputs: some layers cannot be called on them, cloned or not.
            parallel = None
            context.notes.append(ITS_OWN % type(error).__name__)
    clone = clones[0]
    for node, before in arguments:
        # Keras writes masks there whenever it runs a graph on new tensors, whoever made the graph.
        if node.arguments:
            node.arguments.clear()
            node.arguments.update(before)
    if parallel is None:
        return clone
    if len(parallel.outputs) != len(model.outputs):
        raise AssertionError("%d outputs of %d models" % (len(parallel.outputs), len(model.outputs)))
    if [id(weight) for weight in parallel.weights] != [id(weight) for weight in clone.weights]:
        raise AssertionError("the weights of the model on several GPUs are not those of the model that it replicates")
    return clone


def _fails_without_cloning(replicate: Any, model: Any, context: TrialContext, error: Exception) -> bool:
    """Whether a faithful copy, which is to be replicated where it is, ends in the same exception."""
    try:
        replicate(context.framework.fixed()(model), gpus=2, cpu_relocation=False)
    except type(error):
        return True
    except Exception:
        return False
    return False


def _nodes(framework: Any, model: Any) -> Iterator[Any]:
    if framework.is_graph(model):
        for node in framework.graph_nodes(model):
            if hasattr(node, "arguments"):
                yield node
        for layer in framework.members(model):
            yield from _nodes(framework, layer)


@contextlib.contextmanager
def _replaced(module: Any, name: str, value: Any) -> Iterator[None]:
    before = getattr(module, name)
    setattr(module, name, value)
    try:
        yield
    finally:
        setattr(module, name, before)
