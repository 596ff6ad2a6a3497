"""Operations that are not layers are copied.

Their configs may hold a function or omit an argument, and they have no state.
"""

# /// clonediff
# releases = "keras>=3.15"
# fixes = ["operation-arguments", "operation-partial", "patches-name"]
# [definitions]
# "keras/src/models/cloning.py" = ["_clone_operation", "_copy_operation"]
# ///

from keras.src import tree
from keras.src.layers import Layer


def _clone_operation(operation, clone_function, copies):
    if isinstance(operation, Layer):
        return clone_function(operation)
    if id(operation) not in copies:
        copies[id(operation)] = _copy_operation(operation)
    return copies[id(operation)]


def _copy_operation(operation):
    """A copy of an operation that is not a layer, without its calls."""
    copy = object.__new__(type(operation))
    for name, value in vars(operation).items():
        if isinstance(value, (list, tuple, dict)):
            value = tree.map_structure(lambda x: x, value)
        vars(copy)[name] = value
    copy._inbound_nodes, copy._outbound_nodes = [], []
    if operation._auto_config is not None:
        copy._auto_config = type(operation._auto_config)(
            **tree.map_structure(lambda x: x, operation._auto_config.config)
        )
    return copy
