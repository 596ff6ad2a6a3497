"""What is not as it should be of a clone, in every generation of Keras. Shares no code with the checks.

A model is described as plain data: its layers and weights, its calls, its structure at both ends, and what it gives
when it is called. Of a faithful clone the description is the same.
"""

# ruff: noqa: B905

from __future__ import annotations

import re

import numpy as np


def unlike(model, clone_model, inputs=None, again=False, computes=False, begins=False, names=True):
    """Clone a model and call both on `inputs`, or on numbers that suit it: every difference, a line each.

    `inputs` is False where the model is not to be called. With `again`, a second clone and one of the clone are
    compared, too; with `computes`, only what clones compute; with `begins`, also what their weights begin with.
    Without `names`, what has another name is not told.
    """
    before = footprint(model)
    clones = [clone_model(model)]
    lines = differences(before, footprint(model), "the original is changed")
    if again:
        clones += [clone_model(model), clone_model(clones[0])]
    for clone in clones:
        lines += [] if computes else unlike_clone(model, clone)
        if begins:
            lines += differences(*([each.tolist() for each in its.get_weights()] for its in (model, clone)), "begins")
    if not names:
        lines = [line for line in lines if not NAME.search(line.partition(" ")[0])]
    if inputs is not False and not lines:
        lines += unlike_calls(model, clones, inputs)
    return lines


NAME = re.compile(r"names?[/:]|/(weights|variables|operations)/[0-9]+/0:")
"""The place of a difference between names."""


def unlike_clone(model, clone):
    """The differences between a model and a clone that are not called."""
    if clone is model:
        return ["the clone is the model"]
    theirs, ours = Parts(model), Parts(clone)
    lines = differences(described_model(theirs), described_model(ours), "")
    for kind in ("layers", "operations", "variables"):
        both = {id(each) for each in getattr(theirs, kind)} & {id(each) for each in getattr(ours, kind)}
        if both:
            lines.append(f"shared: {len(both)} of the {kind} are the model's own")
    return lines


def differences(expected, found, path):
    """The places where two descriptions differ, each with both values."""
    if type(expected) is type(found):
        if isinstance(expected, dict) and list(expected) == list(found):
            return [line for key in expected for line in differences(expected[key], found[key], f"{path}/{key}")]
        if isinstance(expected, (list, tuple)) and len(expected) == len(found):
            pairs = enumerate(zip(expected, found))
            return [line for place, pair in pairs for line in differences(pair[0], pair[1], f"{path}/{place}")]
        if expected == found:
            return []
    return [f"{path}: {found!r:.300} is not {expected!r:.300}"]


class Parts:
    """The parts of a model, each once, and the place of each."""

    def __init__(self, model):
        self.model = model
        self.layers = closure([model], layers_in)
        graphs = [getattr(layer, "_functional", None) or layer for layer in self.layers]
        # A function of Keras 3 is an operation with a graph of its own.
        self.graphs = closure([each for each in graphs if is_graph(each)], functions_in)
        operations = [operation for graph in self.graphs for operation in operations_in(graph)]
        self.operations = closure(self.layers + operations, lambda _: [])
        self.variables = [*weights_of(model), *states_of(self.layers, model)]
        self.places = {id(weight): f"weight {place}" for place, weight in enumerate(weights_of(model))}
        for place, operation in enumerate(self.operations):
            self.places[id(operation)] = f"operation {place}"
        self.calls = [self._calls_in(graphs) for graphs in together(self.graphs)]

    def _calls_in(self, graphs):
        """The calls of each operation in these graphs, in their order, which is the place of each tensor."""
        counted = {id(node) for graph in graphs for nodes in graph._nodes_by_depth.values() for node in nodes}
        calls = [[each for each in calls_of(operation) if id(each) in counted] for operation in self.operations]
        for place, nodes in enumerate(calls):
            for number, node in enumerate(nodes):
                for output, tensor in enumerate(outputs_of(node)):
                    self.places[id(tensor)] = f"operation {place}, call {number}, output {output}"
        return calls


def together(graphs):
    """The graphs whose calls count together: all, but in Keras 3 each by itself."""
    return [[each] for each in graphs] if any(hasattr(each, "operations") for each in graphs) else [graphs]


def closure(found, more):
    """All that is found, with what each leads to, each once."""
    waiting, seen, closed = list(found), set(), []
    while waiting:
        each = waiting.pop(0)
        if id(each) not in seen:
            seen.add(id(each))
            closed.append(each)
            waiting += more(each)
    return closed


def is_graph(layer):
    return bool(getattr(layer, "_nodes_by_depth", None))


def functions_in(graph):
    return [each for each in operations_in(graph) if is_graph(each)]


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


def outputs_of(node):
    return flat(node.outputs)


def masks_of(node):
    return [getattr(each, "_keras_mask", None) for each in flat(node.outputs)]


def flat(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in flat(item)]
    return [] if value is None else [value]


def weights_of(layer):
    return [] if is_unbuilt(layer) else list(layer.weights)


def is_unbuilt(layer):
    """Whether it is a Sequential that waits for its input: that of `tf_keras` refuses to show its weights."""
    return hasattr(layer, "add") and not layer.built


def states_of(layers, model):
    """What a call of a model may change beside its weights: metrics, and what recurrent layers carry over."""
    metrics = [each for metric in model.metrics for each in metric.variables] if hasattr(model, "_metrics") else []
    held = flat([getattr(layer, "states", None) for layer in layers])
    variables = () if is_unbuilt(model) else getattr(model, "variables", ())
    found = [*variables, *metrics, *held]
    return [each for each in closure(found, lambda _: []) if hasattr(each, "assign")]


# Models at rest


def described_model(parts):
    model = parts.model
    return {
        "layers": [described_layer(layer, parts) for layer in parts.layers],
        "held": [[parts.places[id(each)] for each in layers_in(layer)] for layer in parts.layers],
        "weights": [described_weight(weight) for weight in weights_of(model)],
        "trainable": [parts.places[id(weight)] for weight in ([] if is_unbuilt(model) else model.trainable_weights)],
        "variables": [described_weight(each) for each in parts.variables],
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
"""What is compared of each layer that has it, and of a `Lambda`."""
LAMBDA = ("function", "mask", "arguments", "_output_shape")


def described_layer(layer, parts):
    kept = {"class": type(layer)}
    public = [(key, value) for key, value in sorted(vars(layer).items()) if not key.startswith("_")]
    kept["attributes"] = {key: described(value) for key, value in public if is_plain(value)}
    is_lambda = type(layer).__name__ == "Lambda"
    for key in LAYER + LAMBDA * is_lambda:
        kept[key] = described(getattr(layer, key, "-"), parts)
    if hasattr(layer, "get_build_config"):
        kept["built for"] = described(layer.get_build_config(), parts)
    own = getattr(layer, "_trainable_variables", []) + getattr(layer, "_non_trainable_variables", [])
    kept["weights"] = [described_weight(weight) for weight in own or weights_of(layer)]
    if not (hasattr(layer, "add") or is_graph(layer) or is_lambda):
        try:
            kept["config"] = described(layer.get_config(), parts)
        except Exception as error:  # some have none
            kept["config"] = type(error)
    return kept


def is_plain(value):
    if isinstance(value, (list, tuple)):
        return all(is_plain(item) for item in value)
    return value is None or type(value) in (bool, int, float, str)


def described_weight(weight):
    if not hasattr(weight, "shape"):  # a table
        return type(weight)
    name = getattr(weight, "path", weight.name)
    return name, str(weight.dtype), str(weight.shape), getattr(weight, "trainable", None)


def described_graph(graph, parts):
    names = [list(getattr(graph, "input_names", [])), list(getattr(graph, "output_names", []))]
    if hasattr(graph, "operations"):  # only in Keras 3 do they have names that count
        names = [each.name for each in graph.inputs]
    return {
        "ends": [described(ends_of(graph, end), parts) for end in ("inputs", "outputs")],
        "names": names,
        "operations": [parts.places[id(each)] for each in operations_in(graph)],
    }


def ends_of(graph, end):
    """Its inputs or outputs, nested as they were given."""
    found = [getattr(graph, name, None) for name in (f"_{end}_struct", f"_nested_{end}", end)]
    return next((each for each in found if each is not None), None)


def described_call(node, parts):
    args, kwargs = arguments_of(node)
    return {
        "args": described(args, parts),
        "kwargs": described(kwargs, parts),
        "outputs": [described_tensor(each) for each in outputs_of(node)],
        "masks": [each is not None for each in masks_of(node)],
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
        "variables": [(each.name, tuple(each.shape)) for each in model.optimizer.variables],
        "loss": described(loss._user_loss, parts) if loss else None,
        "jit_compile": model.jit_compile,
    }


def described(value, parts=None):
    """Plain data, equal only for what is the same: parts by their places, arrays by their bytes, functions as such."""
    if parts is not None and id(value) in parts.places:
        return parts.places[id(value)]
    kind = re.sub(r"Tracked|Wrapper|_", "", type(value).__name__).lower()
    if isinstance(value, dict):
        return kind, {key: described(item, parts) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return kind, [described(item, parts) for item in value]
    if hasattr(value, "dtype") and hasattr(value, "shape") and not hasattr(value, "get_config"):
        return described_array(value)
    if isinstance(value, float):
        return repr(value)
    if hasattr(value, "get_config"):
        try:
            return type(value), described(value.get_config(), parts)
        except Exception as error:
            return type(value), type(error)
    return value


def described_array(value):
    if hasattr(value, "assign"):
        return "variable", described_weight(value)
    if hasattr(value, "nested_row_splits"):
        return "ragged", described_array(value.flat_values), [described_array(each) for each in value.nested_row_splits]
    if hasattr(value, "indices") and hasattr(value, "values"):
        return "sparse", described_array(value.values), described_array(value.indices)
    if hasattr(value, "op") or hasattr(value, "_keras_history"):
        return "a tensor of elsewhere", str(value.shape), str(value.dtype)
    array = np.asarray(value)
    return str(array.dtype), array.shape, array.tolist() if array.dtype == object else array.tobytes()


def footprint(model):
    """What cloning must leave as it is: every call of its layers, those outside the model, too, flags and values."""
    parts = Parts(model)
    nodes = [node for operation in parts.operations for node in calls_of(operation)]
    tensors = [tensor for node in nodes for tensor in outputs_of(node)]
    return {
        "model": described_model(parts),
        "nodes": [(id(node), [id(each) for each in flat([*arguments_of(node)])]) for node in nodes],
        "next nodes": [[id(node) for node in each._outbound_nodes] for each in parts.operations],
        "tensors": [(id(each), getattr(each, "name", ""), repr(each._keras_history)) for each in tensors],
        "masks": [[id(mask) for mask in masks_of(node)] for node in nodes],
        "attributes": [sorted(key for key in vars(each) if not key.startswith("_tf_api")) for each in parts.layers],
        "values": values_of(parts.variables),
    }


# Models that are called


def unlike_calls(model, clones, inputs=None):
    """The differences between what a model and its clones give, on `inputs` or on numbers that suit it."""
    inputs = arrays_for(model) if inputs is None else inputs
    models, lines = [model, *clones], []
    variables = [[each for each in Parts(one).variables if hasattr(each, "assign")] for one in models]
    values = [np.array(each) for each in variables[0]]
    for training in (False, True):
        expected, *found = [called(*each, values, inputs, training) for each in zip(models, variables)]
        for each in found:
            lines += differences(expected, each, "training" if training else "inference")
    return lines


def called(model, variables, values, inputs, training):
    """What a model gives whose variables have these values, and leaves in them; then they have them again."""
    give(variables, values)
    seed(model)
    outputs = model(inputs, training=training)
    said = {
        "outputs": described(outputs),
        "masks": [described(getattr(each, "_keras_mask", None)) for each in flat(outputs)],
        "losses": [described(each) for each in model.losses],
        "values": values_of(variables),
    }
    give(variables, values)
    return said


def seed(model):
    """Begin the random numbers of the generation anew."""
    import importlib

    bases = [base.__module__.partition(".")[0] for base in type(model).__mro__]
    package = "tf_keras" if "tf_keras" in bases else "keras"
    importlib.import_module(package).utils.set_random_seed(3)


def give(variables, values):
    for variable, value in zip(variables, values):
        variable.assign(value)


def values_of(variables):
    return [described_array(np.array(each)) for each in variables if hasattr(each, "assign")]


def arrays_for(model):
    """Numbers for the inputs of a model, nested as they are; the last step of each is one that a mask leaves out."""
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
