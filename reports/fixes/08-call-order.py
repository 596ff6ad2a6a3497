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
    """The calls of a model by depth, but those of a layer as it was called."""
    waiting = [
        node
        for depth in sorted(model._nodes_by_depth, reverse=True)
        for node in model._nodes_by_depth[depth]
        if not node.is_input
    ]
    earlier = {}
    for node in waiting:
        calls = [x for x in node.operation._inbound_nodes if x in waiting]
        earlier[id(node)] = {id(x) for x in calls[: calls.index(node)]}
    made = {id(x) for x in model.inputs}
    done = set()
    while waiting:
        ready = [
            node
            for node in waiting
            if made.issuperset(id(x) for x in node.input_tensors)
        ]
        if not ready:
            return  # the rest does not depend on the inputs
        in_order = [node for node in ready if earlier[id(node)] <= done]
        node = (in_order or ready)[0]
        waiting.remove(node)
        done.add(id(node))
        made.update(id(x) for x in node.outputs)
        yield node
