"""Calls are made again in the order in which they were made.

They were made by depth, so a layer that is called twice was built by another
call than in its model, and its output is that of another.
"""

# /// clonediff
# generation = "keras"
# root = "order of calls"
# mends = ["call-order-outputs"]
# [places]
# "keras/src/models/cloning.py" = ["_call_again", "_calls_in_order"]
# ///

from keras.src import tree


def _call_again(model, inputs, operation_fn, call_fn):
    """Makes the calls of a model again, and returns its outputs."""
    tensors = {id(x): y for x, y in zip(model.inputs, tree.flatten(inputs))}
    for node in _calls_in_order(model):
        args, kwargs = node.arguments.fill_in(tensors)
        operation = operation_fn(node.operation)
        if call_fn is None:
            outputs = operation(*args, **kwargs)
        else:
            outputs = call_fn(operation, *args, **kwargs)
        for x, y in zip(node.outputs, tree.flatten(outputs)):
            tensors[id(x)] = y
    return tree.map_structure(lambda x: tensors[id(x)], model._outputs_struct)


def _calls_in_order(model):
    """The calls of a model, each after those on which it depends."""
    depths = model._nodes_by_depth
    waiting = [node for depth in sorted(depths)[::-1] for node in depths[depth]]
    in_order = []

    def visit(node):
        if node not in waiting:
            return
        waiting.remove(node)
        calls = node.operation._inbound_nodes
        for earlier in (*calls[: calls.index(node)], *node.parent_nodes):
            visit(earlier)
        in_order.append(node)

    while waiting:
        visit(waiting[0])
    return [node for node in in_order if not node.is_input]
