"""Without other arguments, `clone_model` copies the model.

Each object is copied once, and each variable gets its initial value again.
"""

# /// clonediff
# releases = "keras>=3.15"
# fixes = [
#     "adapted-lookup", "adapted-normalization", "lora-alpha-dense", "quantized-inside", "quantized-order", "random-shear"
# ]
# [definitions]
# "keras/src/models/copying.py" = [
#     "LEFT_OUT", "SHARED", "PLAIN", "UNSET", "LIBRARIES", "Copier", "is_wrapper", "attributes_of",
#     "kind_of", "parts_of", "rebuilt", "copy_of_table",
# ]
# "keras/src/models/cloning.py" = ["_clone_alone"]
# "keras/src/layers/core/einsum_dense.py" = ["EinsumDense._update_kernel_initializer"]
# "keras/src/backend/common/variables.py" = ["remembering_initializer", "Variable.__init__"]
# ///

import collections
import copy
import enum
import functools
import itertools
import sys
import types
import weakref

import numpy as np

from keras.src import initializers
from keras.src.backend.common.keras_tensor import KerasTensor
from keras.src.backend.common.variables import Variable as KerasVariable
from keras.src.initializers.random_initializers import RandomInitializer
from keras.src.models import copying
from keras.src.ops.function import Function
from keras.src.ops.function import make_node_key
from keras.src.ops.operation import Operation
from keras.src.optimizers.base_optimizer import BaseOptimizer
from keras.src.random.seed_generator import SeedGenerator
from keras.src.random.seed_generator import make_default_seed
from keras.src.utils.module_utils import tensorflow as tf
from keras.src.utils.tracking import Tracker

SHARED = (type, types.ModuleType, enum.Enum, str, int, float)
PLAIN = (list, dict, set, collections.OrderedDict, collections.defaultdict)
LIBRARIES = {"tensorflow", "jax", "jaxlib", "torch", "numpy"}
UNSET = types.CellType()
LEFT_OUT = {  # by attribute with a trace of a run or an `id`: its new value
    **dict.fromkeys(("train_function", "test_function", "predict_function")),
    **dict.fromkeys(("_eval_epoch_iterator", "_jax_state", "_value")),
    **dict.fromkeys(("_keras_history", "_obj_reference_counts_dict")),
    **dict(_losses=[], _losses_override=[], _loss_ids=set()),
}


def remembering_initializer(init):
    """Wraps a constructor so that a variable remembers its initial value."""
    numbers = itertools.count()

    @functools.wraps(init)
    def wrapper(self, initializer, *args, **kwargs):
        init(self, initializer, *args, **kwargs)
        self._first, self._number = initializer, next(numbers)

    return wrapper


class Variable:
    @remembering_initializer
    def __init__(self, initializer): ...


class EinsumDense:
    def _update_kernel_initializer(self, input_axes, output_axes):
        new = copy.copy(self.kernel_initializer)  # keeps a missing seed missing
        new.input_axes, new.output_axes = input_axes, output_axes
        return new


def _clone_alone(model, clone):
    return copying.Copier(model).memo[id(model)]


class Copier:
    """Copies a model: creates empty copies of its objects, then fills them."""

    def __init__(self, model):
        self.memo, self.seen = {}, {}
        self.calls = set()  # the ids of the lists of calls that operations have
        self.walk(model)
        copied = [x for x in self.seen.values() if kind_of(x) == "object"]
        for thing in sorted(copied, key=is_wrapper):
            self.fill(thing, self.memo[id(thing)])
        for thing in copied:
            self.complete(thing, self.memo[id(thing)])
        variables = [x for x in copied if isinstance(x, KerasVariable)]
        for variable in sorted(variables, key=lambda x: x._number):
            self.begin(self.memo[id(variable)])
        for thing in copied:
            if isinstance(thing, BaseOptimizer):
                self.bind(thing, self.memo[id(thing)])

    def walk(self, model):
        """Creates an empty copy of each object that belongs to the model."""
        waiting = [model]
        while waiting:
            thing = waiting.pop()
            kind = kind_of(thing)
            if kind is None or id(thing) in self.seen:
                continue
            self.seen[id(thing)] = thing
            if kind == "object":
                makers = [vars(x).get("__new__") for x in type(thing).__mro__]
                builtin = types.BuiltinMethodType
                new = next(x for x in makers if isinstance(x, builtin))
                self.memo[id(thing)] = new(type(thing))
            elif kind == "table":
                self.memo[id(thing)] = copy_of_table(thing)
            elif kind == "array":
                self.memo[id(thing)] = thing.copy()
            if isinstance(thing, Operation):
                lists = [thing._inbound_nodes, thing._outbound_nodes]
                lists += [getattr(x, "_storage", x) for x in lists]
                self.calls.update(map(id, lists))
            if id(thing) in self.calls:  # leave out calls in other graphs
                waiting.extend(attributes_of(thing).values())
            else:
                waiting.extend(parts_of(thing, kind))

    def of(self, thing):
        """The object that the copy has in place of `thing`."""
        kind = kind_of(thing)
        is_part = kind in ("tuple", "function") and id(thing) in self.seen
        if is_part and id(thing) not in self.memo:
            self.memo[id(thing)] = thing  # a part may refer to it
            parts = parts_of(thing, kind)
            new = [self.of(part) for part in parts]
            if any(one is not other for one, other in zip(parts, new)):
                self.memo[id(thing)] = rebuilt(thing, new)
        return self.memo.get(id(thing), thing)

    def fill(self, thing, new):
        """Fills a copy with copies of what the original has."""
        if is_wrapper(thing):
            type(thing).__init__(new, self.of(thing.__wrapped__))
            return
        if isinstance(thing, list):
            is_calls = id(thing) in self.calls
            items = [x for x in thing if not is_calls or id(x) in self.memo]
            list.extend(new, map(self.of, items))
        elif isinstance(thing, dict):
            for key, value in thing.items():
                dict.__setitem__(new, self.of(key), self.of(value))
        elif isinstance(thing, set):
            set.update(new, map(self.of, thing))
        for name, value in attributes_of(thing).items():
            is_left_out = name in LEFT_OUT
            value = copy.copy(LEFT_OUT[name]) if is_left_out else self.of(value)
            object.__setattr__(new, name, value)

    def complete(self, thing, new):
        """Rebuilds what depends on an `id`; draws seeds that no user chose."""
        history = getattr(thing, "_keras_history", None)
        if isinstance(thing, KerasTensor) and history:
            operation, number, place = history
            if id(operation) in self.memo:
                node = self.of(operation._inbound_nodes[number])
                operation = self.of(operation)
                number = operation._inbound_nodes.index(node)
            new._keras_history = type(history)(operation, number, place)
        elif isinstance(thing, Tracker):
            stores = new.config.items()
            new.stored_ids = {x: set(map(id, y)) for x, (_, y) in stores}
        elif isinstance(thing, Function):
            nodes = [x for nodes in new._nodes_by_depth.values() for x in nodes]
            calls = [(x, x.operation._inbound_nodes) for x in nodes]
            keys = {make_node_key(x.operation, y.index(x)) for x, y in calls}
            vars(new)["_nodes"] = keys
        elif isinstance(thing, RandomInitializer) and thing._init_seed is None:
            new.seed = make_default_seed()
        elif isinstance(thing, SeedGenerator) and thing._initial_seed is None:
            new.state._first = [make_default_seed(), 0]

    def begin(self, new):
        """Gives the copy of a variable the initial value of the original."""
        first = new._first
        if callable(first) or isinstance(first, str):
            new._initialize_with_initializer(initializers.get(first))
        else:
            new._initialize(new._convert_to_tensor(first, new._dtype))

    def bind(self, optimizer, new):
        """Sets the learning rate of a new optimizer, and finds its variables."""
        if isinstance(optimizer._learning_rate, KerasVariable):
            new._learning_rate.assign(optimizer._learning_rate)
        pairs = zip(optimizer._trainable_variables, new._trainable_variables)
        keys = {optimizer._var_key(x): new._var_key(y) for x, y in pairs}
        for name in ("_trainable_variables_indices", "_var_to_optimizer_idx"):
            if name in vars(new):
                places = vars(optimizer)[name].items()
                vars(new)[name] = {keys[key]: place for key, place in places}


def is_wrapper(thing):
    return hasattr(type(thing), "__wrapped__")  # TensorFlow wraps it


def attributes_of(thing):
    if hasattr(thing, "__dict__"):
        return vars(thing)
    slots = getattr(type(thing), "__slots__", ())
    return {name: getattr(thing, name) for name in slots if name in dir(thing)}


def kind_of(thing):
    """The way to copy a thing; `None` if the copy shares it."""
    cls = type(thing)
    if isinstance(thing, SHARED):
        return None
    if cls in (types.FunctionType, types.MethodType, functools.partial):
        return "function"
    if isinstance(thing, tuple) and not is_wrapper(thing):
        return "tuple"
    if isinstance(thing, (np.ndarray, weakref.WeakSet)):
        return "array"
    if cls.__name__ in ("MutableHashTable", "ResourceVariable"):
        return "table"
    modules = [base.__module__ for base in cls.__mro__]
    if any(name.startswith("keras.src") for name in modules) or cls in PLAIN:
        return "object"
    if cls.__module__.startswith("tensorflow.python.trackable."):
        return "object"
    if cls.__module__.partition(".")[0] in LIBRARIES | sys.stdlib_module_names:
        return None
    has_default = cls.__reduce_ex__ is object.__reduce_ex__
    has_default = has_default and cls.__reduce__ is object.__reduce__
    return "object" if has_default and hasattr(thing, "__dict__") else None


def parts_of(thing, kind):
    if kind == "tuple":
        return list(thing)
    if isinstance(thing, types.MethodType):
        return [thing.__self__]
    if isinstance(thing, functools.partial):
        return [thing.func, *thing.args, *thing.keywords.values()]
    if kind == "function":
        cells = [x for x in thing.__closure__ or () if x != UNSET]
        return [*(x.cell_contents for x in cells), *vars(thing).values()]
    if is_wrapper(thing):
        return [thing.__wrapped__]
    named = attributes_of(thing) if kind == "object" else {}
    parts = [value for name, value in named.items() if name not in LEFT_OUT]
    if isinstance(thing, (list, dict, set)):
        parts += thing
    if isinstance(thing, dict):
        parts += thing.values()
    history = getattr(thing, "_keras_history", None)
    if isinstance(thing, KerasTensor) and history and history.operation:
        parts.append(history.operation._inbound_nodes[history.node_index])
    return parts


def rebuilt(thing, parts):
    if isinstance(thing, types.MethodType):
        return types.MethodType(thing.__func__, parts[0])
    if isinstance(thing, functools.partial):
        count = 1 + len(thing.args)
        named = dict(zip(thing.keywords, parts[count:]))
        return functools.partial(*parts[:count], **named)
    if isinstance(thing, tuple):
        return getattr(thing, "_make", type(thing))(parts)
    values, closure = iter(parts), thing.__closure__ or ()
    cells = [x if x == UNSET else types.CellType(next(values)) for x in closure]
    new = types.FunctionType(
        thing.__code__, thing.__globals__, closure=tuple(cells) or None
    )
    for name in ("__name__", "__defaults__", "__kwdefaults__"):
        setattr(new, name, getattr(thing, name))
    vars(new).update(zip(vars(thing), values))
    return new


def copy_of_table(table):
    if isinstance(table, tf.Variable):
        return copy.deepcopy(table)
    new = type(table)(table.key_dtype, table.value_dtype, table._default_value)
    new.insert(*table.export())
    return new
