"""Compares a model with its clone, for Keras 3 and `tf_keras`, and shares no code with the checks of the harness.

A model is described as plain data: its layers and weights, its calls, the structure at both ends, and what it computes.
The description of a faithful clone is equal.
"""

from __future__ import annotations

import functools
import importlib
import re
import types

import numpy as np

from tests.fixed.leads_back import leads_back


def unlike(model, clone_model, inputs=None, again=False):
    """Clone a model, call both on `inputs`, and return the differences as lines of text.

    Without `inputs`, both are called on random numbers; where `inputs` is False they are not called. With `again`, a
    second clone and a clone of the clone are compared too.
    """
    before = footprint(model)
    clones = [clone_model(model)]
    lines = differences(before, footprint(model), "the original is changed")
    if again:
        clones += [clone_model(model), clone_model(clones[0])]
    for clone in clones:
        lines += unlike_clone(model, clone) + leads_back(model, clone)
    if inputs is not False and not lines:
        lines += unlike_calls(model, clones, inputs)
    return lines


def unlike_clone(model, clone):
    """The differences between a model and its clone at rest."""
    if clone is model:
        return ["the clone is the model"]
    original, copy = Parts(model), Parts(clone)
    lines = differences(described_model(original), described_model(copy), "")
    for kind in ("layers", "operations", "variables"):
        shared = set(map(id, getattr(original, kind))) & set(map(id, getattr(copy, kind)))
        if shared:
            lines.append(f"shared: {len(shared)} of the {kind} are the model's own")
    return lines


def differences(expected, actual, path):
    """The places where two descriptions differ, with both values."""
    if type(expected) is type(actual):
        if isinstance(expected, dict) and list(expected) == list(actual):
            return [line for key in expected for line in differences(expected[key], actual[key], f"{path}/{key}")]
        if isinstance(expected, (list, tuple)) and len(expected) == len(actual):
            pairs = enumerate(zip(expected, actual, strict=True))
            return [line for place, pair in pairs for line in differences(*pair, f"{path}/{place}")]
        if expected == actual:
            return []
    return [f"{path}: {actual!r:.300} is not {expected!r:.300}"]


class Parts:
    """The layers, graphs, operations and variables of a model, and the place of each."""

    def __init__(self, model):
        self.model = model
        self.layers = closure([model], layers_in)
        graphs = [getattr(layer, "_functional", None) or layer for layer in self.layers]
        # A function of Keras 3 is an operation with a graph of its own.
        self.graphs = closure([graph for graph in graphs if is_graph(graph)], functions_in)
        operations = [operation for graph in self.graphs for operation in operations_in(graph)]
        self.operations = closure(self.layers + operations)
        self.variables = [*weights_of(model), *states_of(self.layers, model)]
        self.places = {id(weight): f"weight {place}" for place, weight in enumerate(weights_of(model))}
        for place, operation in enumerate(self.operations):
            self.places[id(operation)] = f"operation {place}"
        # The calls of all graphs are counted together, but in Keras 3 those of each graph alone.
        alone = any(hasattr(graph, "operations") for graph in self.graphs)
        groups = [[graph] for graph in self.graphs] if alone else [self.graphs]
        self.calls = [self._calls_in(graphs) for graphs in groups]

    def _calls_in(self, graphs):
        """The calls of each operation in these graphs, in their order, which is the place of each tensor."""
        counted = {id(node) for graph in graphs for nodes in graph._nodes_by_depth.values() for node in nodes}
        calls = [[node for node in calls_of(operation) if id(node) in counted] for operation in self.operations]
        for place, nodes in enumerate(calls):
            for number, node in enumerate(nodes):
                for output, tensor in enumerate(flat(node.outputs)):
                    self.places[id(tensor)] = f"operation {place}, call {number}, output {output}"
        return calls


def closure(things, more=lambda thing: []):
    """These things and all that `more` leads to, without repetition."""
    waiting, closed = list(things), {}
    while waiting:
        thing = waiting.pop(0)
        if id(thing) not in closed:
            closed[id(thing)] = thing
            waiting += more(thing)
    return list(closed.values())


def is_graph(layer):
    return bool(getattr(layer, "_nodes_by_depth", None))


def functions_in(graph):
    return [operation for operation in operations_in(graph) if is_graph(operation)]


def operations_in(graph):
    return list(getattr(graph, "operations", None) or graph.layers)


def layers_in(layer):
    """The layers that a layer holds itself."""
    if hasattr(layer, "_self_tracked_trackables"):  # tf_keras
        return list(layer._flatten_layers(recursive=False, include_self=False))
    return list(getattr(layer, "_layers", ()))


def calls_of(operation):
    return list(getattr(operation, "_inbound_nodes", ()))


def arguments_of(node):
    if hasattr(node, "call_args"):  # tf_keras
        return node.call_args, node.call_kwargs
    return node.arguments.args, node.arguments.kwargs


def masks_of(tensors):
    return [getattr(tensor, "_keras_mask", None) for tensor in flat(tensors)]


def flat(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in flat(item)]
    return [] if value is None else [value]


def is_unbuilt(layer):
    """Whether it is a Sequential that waits for its input: that of `tf_keras` refuses to show its weights."""
    return hasattr(layer, "add") and not layer.built


def weights_of(layer):
    return [] if is_unbuilt(layer) else list(layer.weights)


def states_of(layers, model):
    """What a call of a model may change beside its weights: metrics, states of recurrent layers, random generators."""
    metrics = model.metrics if hasattr(model, "_metrics") else []
    generators = [
        getattr(getattr(layer, "_random_generator", None), "_generator", None) for layer in layers
    ]  # tf_keras
    states = flat([[getattr(layer, "states", None) for layer in layers], [g.state for g in generators if g]])
    variables = () if is_unbuilt(model) else getattr(model, "variables", ())
    return [
        state
        for state in closure([*variables, *flat([metric.variables for metric in metrics]), *states])
        if hasattr(state, "assign")
    ]


# Models at rest


def described_model(parts):
    model = parts.model
    return {
        "layers": [described_layer(layer, parts) for layer in parts.layers],
        "sublayers": [[parts.places[id(part)] for part in layers_in(layer)] for layer in parts.layers],
        "weights": [described_weight(weight) for weight in weights_of(model)],
        "trainable": [parts.places[id(weight)] for weight in ([] if is_unbuilt(model) else model.trainable_weights)],
        "variables": [described_weight(variable) for variable in parts.variables],
        "graphs": [described_graph(graph, parts) for graph in parts.graphs],
        "operations": [(operation.name, type(operation)) for operation in parts.operations],
        "calls": [[[described_call(node, parts) for node in nodes] for nodes in calls] for calls in parts.calls],
        "compiled": described_compiled(model, parts) if getattr(model, "compiled", False) else None,
    }


LAYER = (
    "name", "trainable", "built", "supports_masking", "stateful", "autocast", "_autocast", "dtype", "compute_dtype",
    "dtype_policy", "sparse", "activity_regularizer", "batch_input_shape", "use_cudnn", "activation",
    "kernel_initializer", "kernel_regularizer", "cell",
)  # fmt: skip
"""What is compared of each layer that has it."""
LAMBDA = ("function", "mask", "arguments", "_output_shape")


def described_layer(layer, parts):
    description = {"class": type(layer)}
    public = [(key, value) for key, value in sorted(vars(layer).items()) if not key.startswith("_")]
    description["attributes"] = {key: described(value) for key, value in public if is_plain(value)}
    is_lambda = type(layer).__name__ == "Lambda"
    for key in LAYER + LAMBDA * is_lambda:
        description[key] = described(getattr(layer, key, "-"), parts)
    if hasattr(layer, "get_build_config"):
        description["built for"] = described(layer.get_build_config(), parts)
    own = getattr(layer, "_trainable_variables", []) + getattr(layer, "_non_trainable_variables", [])
    description["weights"] = [described_weight(weight) for weight in own or weights_of(layer)]
    if not (hasattr(layer, "add") or is_graph(layer) or is_lambda):
        description["config"] = config_of(layer, parts)
    return description


def is_plain(value):
    if isinstance(value, (list, tuple)):
        return all(map(is_plain, value))
    return value is None or type(value) in (bool, int, float, str)


def config_of(value, parts, within=()):
    try:
        return described(value.get_config(), parts, within)
    except Exception as error:  # some have none
        return type(error)


def described_weight(weight):
    if not hasattr(weight, "shape"):  # a table
        return type(weight)
    name = getattr(weight, "path", weight.name)
    return name, str(weight.dtype), str(weight.shape), getattr(weight, "trainable", None)


def described_graph(graph, parts):
    names = [list(getattr(graph, "input_names", [])), list(getattr(graph, "output_names", []))]
    if hasattr(graph, "operations"):  # only in Keras 3 do inputs have names that count
        names = [tensor.name for tensor in graph.inputs]
    return {
        "ends": [described(ends_of(graph, end), parts) for end in ("inputs", "outputs")],
        "names": names,
        "operations": [parts.places[id(operation)] for operation in operations_in(graph)],
    }


def ends_of(graph, end):
    """Its inputs or outputs, in their nested structure."""
    candidates = [getattr(graph, name, None) for name in (f"_{end}_struct", f"_nested_{end}", end)]
    return next((structure for structure in candidates if structure is not None), None)


def described_call(node, parts):
    args, kwargs = arguments_of(node)
    return {
        "args": described(args, parts),
        "kwargs": described(kwargs, parts),
        "outputs": [described_tensor(tensor) for tensor in flat(node.outputs)],
        "masks": [mask is not None for mask in masks_of(node.outputs)],
    }


def described_tensor(tensor):
    spec = getattr(tensor, "type_spec", None)
    if spec is not None:
        return re.sub(r"name=[^)]*", "", str(spec))
    return str(tensor.shape), str(tensor.dtype), getattr(tensor, "sparse", None), getattr(tensor, "ragged", None)


def described_compiled(model, parts):
    loss = model._compile_loss
    return {
        "optimizer": described(model.optimizer, parts),
        "variables": [(variable.name, tuple(variable.shape)) for variable in model.optimizer.variables],
        "loss": described(loss._user_loss, parts) if loss else None,
        "jit_compile": model.jit_compile,
    }


def described(value, parts=None, within=()):
    """Plain data: parts by their places, arrays by bytes, functions by their code, objects by their attributes."""
    if parts is not None and id(value) in parts.places:
        return parts.places[id(value)]
    if id(value) in within:
        return "a cycle", within.index(id(value))
    inner = functools.partial(described, parts=parts, within=(*within, id(value)))
    kind = re.sub(r"Tracked|Wrapper|_", "", type(value).__name__).lower()
    if isinstance(value, dict):
        return kind, {key: inner(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return kind, list(map(inner, value))
    if hasattr(value, "dtype") and hasattr(value, "shape") and not hasattr(value, "get_config"):
        return described_array(value)
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, types.FunctionType):
        return value.__code__, inner([cell.cell_contents for cell in value.__closure__ or ()])
    if isinstance(value, types.MethodType):
        return value.__func__, inner(value.__self__)
    if isinstance(value, functools.partial):
        return inner([value.func, value.args, value.keywords])
    if isinstance(value, type):
        return value
    if hasattr(value, "get_config"):
        return type(value), config_of(value, parts, (*within, id(value)))
    if hasattr(value, "__dict__") and type(value).__eq__ in (object.__eq__, types.SimpleNamespace.__eq__):
        return value if isinstance(value, types.ModuleType) else (type(value), inner(vars(value)))
    return value


def described_array(value):
    if hasattr(value, "assign"):
        return "variable", described_weight(value)
    if hasattr(value, "nested_row_splits"):
        return "ragged", described_array(value.flat_values), list(map(described_array, value.nested_row_splits))
    if hasattr(value, "indices") and hasattr(value, "values"):
        return "sparse", described_array(value.values), described_array(value.indices)
    if hasattr(value, "op") or hasattr(value, "_keras_history"):
        return "a tensor of elsewhere", str(value.shape), str(value.dtype)
    array = np.asarray(value.numpy() if hasattr(value, "numpy") else value)  # NumPy cannot read bfloat16 scalars
    return str(array.dtype), array.shape, array.tolist() if array.dtype == object else array.tobytes()


def footprint(model):
    """What cloning must not change: every call of the model's layers, outside of the model too, flags and values."""
    parts = Parts(model)
    nodes = [node for operation in parts.operations for node in calls_of(operation)]
    tensors = [tensor for node in nodes for tensor in flat(node.outputs)]
    return {
        "model": described_model(parts),
        "nodes": [(id(node), [id(leaf) for leaf in flat([*arguments_of(node)])]) for node in nodes],
        "next nodes": [[id(node) for node in operation._outbound_nodes] for operation in parts.operations],
        "tensors": [(id(tensor), getattr(tensor, "name", ""), repr(tensor._keras_history)) for tensor in tensors],
        "masks": [[id(mask) for mask in masks_of(node.outputs)] for node in nodes],
        "attributes": [sorted(key for key in vars(layer) if not key.startswith("_tf_api")) for layer in parts.layers],
        "values": values_of(parts.variables),
    }


# Models that are called


def unlike_calls(model, clones, inputs=None):
    """The differences between what a model and its clones compute, on `inputs` or on random numbers."""
    inputs = arrays_for(model) if inputs is None else inputs
    variables = [[v for v in Parts(one).variables if hasattr(v, "assign")] for one in (model, *clones)]
    values, lines = [np.array(variable) for variable in variables[0]], []
    for training in (False, True):
        runs = zip((model, *clones), variables, strict=True)
        expected, *actual = [called(*run, values, inputs, training) for run in runs]
        for result in actual:
            lines += differences(expected, result, "training" if training else "inference")
    return lines


def called(model, variables, values, inputs, training):
    """What a model computes when its variables have these values, and what they become; then they are set back."""
    assign(variables, values)
    seed(model)
    outputs = model(inputs, training=training)
    results = {
        "outputs": described(outputs),
        "masks": [described(mask) for mask in masks_of(outputs)],
        "losses": [described(loss) for loss in model.losses],
        "values": values_of(variables),
    }
    assign(variables, values)
    return results


def seed(model):
    """Begin the random numbers of the generation anew."""
    packages = [base.__module__.partition(".")[0] for base in type(model).__mro__]
    importlib.import_module("tf_keras" if "tf_keras" in packages else "keras").utils.set_random_seed(3)


def assign(variables, values):
    for variable, value in zip(variables, values, strict=False):
        variable.assign(value)


def values_of(variables):
    return [described_array(np.array(variable)) for variable in variables if hasattr(variable, "assign")]


def arrays_for(model):
    """Random inputs for a model; the last step of each is one that a mask leaves out."""
    random = np.random.RandomState(0)

    def numbers(tensor):
        shape = tensor.get_shape().as_list() if hasattr(tensor, "get_shape") else list(tensor.shape)
        shape = [(2 if place == 0 else 3) if size is None else size for place, size in enumerate(shape)]
        dtype = getattr(tensor.dtype, "name", tensor.dtype)
        if "int" in dtype or dtype == "bool" or type(model.layers[0]).__name__ == "Embedding":
            array = random.randint(0, 3, size=shape)
        else:
            array = random.standard_normal(shape)
        if array.ndim > 1:
            array[:, -1:] = 0
        return array.astype(dtype)

    def nested(structure):
        if isinstance(structure, dict):
            return type(structure)((key, nested(item)) for key, item in structure.items())
        if isinstance(structure, (list, tuple)):
            return type(structure)(nested(item) for item in structure)
        return numbers(structure)

    return nested(ends_of(getattr(model, "_functional", None) or model, "inputs"))
