"""What a release has of what a graph can ask for: layers, operations, their arguments, what it can build.

Said once, when the child is ready, so that no graph is drawn that the release is too old for. Nothing here goes by a
version: arguments are read from signatures, abilities are tried.
"""

from __future__ import annotations

import functools
import inspect
import sys
from typing import Any, Callable

import numpy

from .frameworks.interface import Framework

_SETS_POLICY = """
config = getattr(keras, "config", None)
getattr(config, "set_dtype_policy", None) or keras.mixed_precision.set_global_policy
"""
# The smallest text that needs it, by the name that `strategies.graphs` or `harness.trials.offers` has for it.
_TRIED = {
    "optional inputs": """
import numpy


class AddsOther(keras.layers.Layer):
    def call(self, x, other=None):
        return x * 1.0 if other is None else x + other


a, b = keras.Input((2,)), keras.Input((2,), optional=True)
keras.Model([a, b], AddsOther()(a, b))([numpy.ones((1, 2)), None])
""",
    "None among tensors": """
class TakesFirst(keras.layers.Layer):
    def call(self, xs):
        return xs[0] * 1.0


a = keras.Input((2,))
keras.Model(a, TakesFirst()([a, None]))
""",
    # Before Keras 3 a tensor is that of an input.
    "inputs around tensors": """
symbolic = getattr(keras, "KerasTensor", keras.Input)
a = keras.Input(tensor=symbolic(shape=(None, 2), name="tried"))
keras.Model(a, keras.layers.Dense(2)(a))
""",
    "sparse inputs": """
assert keras.backend.backend() == "tensorflow"
import tensorflow

a = keras.Input((2,), sparse=True)
keras.Model(a, keras.layers.Dense(2)(a))(tensorflow.sparse.from_dense([[0.0, 1.0]]))
""",
    # Before 2.4 such an input of tf.keras is a tensor of TensorFlow's own.
    "ragged inputs": """
assert keras.backend.backend() == "tensorflow"
import tensorflow

a, b = keras.Input((None,), dtype="int32", ragged=True), keras.Input((None, 4), ragged=True)
assert not isinstance(b, tensorflow.RaggedTensor)
c = keras.layers.GlobalAveragePooling1D()(b)
model = keras.Model([a, b], [keras.layers.Embedding(3, 4)(a), c, keras.layers.Concatenate()([b, b])])
rows = tensorflow.ragged.constant([[1], [2, 0]])
model([rows, tensorflow.ragged.constant([[[1.0] * 4], [[2.0] * 4] * 2], ragged_rank=1)])
""",
    "repeated inputs": """
a = keras.Input((2,))
keras.Model([a, a], keras.layers.Dense(2)(a))
""",
    "nested ends": """
a, b = keras.Input((2,)), keras.Input((2,))
keras.Model([a, (b,)], [keras.layers.Dense(2)(a), (keras.layers.Dense(2)(b),)])
""",
    # But for TensorFlow, Keras asks what a layer gives of arrays, with another size for a batch that is not known.
    "mixed batches": """
class AddsBoth(keras.layers.Layer):
    def call(self, xs):
        return xs[0] + xs[1]


AddsBoth()([keras.Input((2,)), keras.Input((2,), batch_size=2)])
""",
    "partial masks": """
a = keras.Input((3, 4))
keras.layers.Lambda(lambda x: x[0] + x[1])([a, keras.layers.Masking()(a)])
""",
    # The Keras that has its `engine` takes a list of one, and is asked for no more.
    "model calls": """
import numpy

x, a = keras.Input((2,)), keras.Input((2,), name="a")
keras.Model(x, keras.Model(a, keras.layers.Dense(1)(a))([x]))
if not hasattr(keras, "engine"):
    b, first = keras.Input((2,), name="b"), keras.Input((2, 1), name="first")
    second = keras.Input((2,), dtype="float64", name="second")
    inner = keras.Model([a, b], keras.layers.Subtract()([a, b]))
    one, other = keras.Model(first, keras.layers.Dense(1)(first)), keras.Model([second], keras.layers.Dense(1)(second))
    given = [inner((x, x)), inner(inputs=[x, x]), inner({"b": x, "a": x, "c": x}), other([x])]
    keras.Model(x, [one(x), keras.Model({"a": a, "b": b}, inner([a, b]))({"a": x, "b": x}), *given])(numpy.ones((1, 2)))
""",
    # Before 2.2 training leaves a Sequential of tf.keras inputs that it did not have.
    "late building": """
assert hasattr(keras.Model, "train_step") or keras.__name__ == "keras"
import numpy

x = keras.Input((2,))
keras.Model(x, keras.Sequential([keras.layers.Dense(2)])(x))(numpy.ones((1, 2)))
keras.Sequential([keras.layers.Dense(2), keras.layers.Dense(2)]).build((None, 2))
assert keras.Sequential([keras.layers.Dense(2, input_shape=(2,))]).built
""",
    "shapes of models": """
first = keras.Sequential([keras.layers.Dense(2, input_shape=(2,))])
assert keras.Sequential([first, keras.layers.Dense(2)]).output_shape == (None, 2)
""",
    # Before 3.4 a Sequential does not say what it gives, and one around it is not built.
    "sequentials in layers": """
x = keras.Input((3, 2))
keras.Model(x, keras.layers.TimeDistributed(keras.Sequential([keras.layers.Dense(2)]))(x))
""",
    "dtypes": "keras.layers.Dense(2, dtype='mixed_bfloat16')",
    # Until 3.4 a float layer writes its own into a tensor that it is called on.
    "tensors that keep their dtype": """
a = keras.Input((2,))
before = a.dtype
keras.layers.ReLU(dtype="float64")(a)
assert a.dtype == before
""",
    # Before 2.11 a call of another layer with None for `training` says of all later ones that nobody trains.
    "calls apart": """
if hasattr(keras.layers, "RandomHeight"):
    a = keras.Input((4, 4, 2))
    keras.layers.AlphaDropout(0.5)(a, training=None)
    assert keras.layers.RandomHeight(0.5)(a).shape[1] is None
""",
    # Before 2.4 those of tf.keras are TensorFlow's, in a graph that has each name once.
    "own tensors": "assert type(keras.Input((2,))).__name__ != 'Tensor'",
    "named cells": """
a = keras.layers.LSTM(1)
if hasattr(a.cell, "build"):
    assert keras.layers.LSTM.from_config(a.get_config()).cell.name == a.cell.name
""",
    "regularizers": "keras.layers.ReLU(activity_regularizer='l2')(keras.Input((2,)))",
    "registered classes": "keras.utils.register_keras_serializable('tried')(type('Tried', (keras.layers.Layer,), {}))",
    "automatic configs": """
class TakesUnits(keras.layers.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)


assert TakesUnits(2).get_config()["units"] == 2
""",
    "policies": "keras.dtype_policies.DTypePolicyMap(default_policy='mixed_bfloat16')",
    "multi_gpu_model": "keras.utils.multi_gpu_model",
    "strings": """
import numpy
a = keras.Input((1,), dtype="string")
keras.Model(a, keras.layers.StringLookup(vocabulary=["b"])(a))(numpy.array([["b"]], dtype=object))
""",
    "clone functions": """
a = keras.Input((2,))
keras.models.clone_model(keras.Model(a, keras.layers.Dense(2)(a)), clone_function=lambda layer: layer)
""",
    "call functions": """
a = keras.Input((2,))
keras.models.clone_model(keras.Model(a, keras.layers.Dense(2)(a)), call_function=lambda layer, *given: layer(*given))
""",
    "recursive cloning": """
a = keras.Input((2,))
keras.models.clone_model(keras.Model(a, keras.layers.Dense(2)(a)), recursive=True)
""",
    "lora": "keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)]).layers[0].enable_lora(1, lora_alpha=2)",
    "quantize": "keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)]).quantize('int4')",
    "policy": _SETS_POLICY,
    "built policy": _SETS_POLICY,
    # NumPy has no gradients.
    "train": "assert keras.backend.backend() != 'numpy'",
    "adapt": "keras.layers.Normalization().adapt",
    # Before 2.3 tf.keras takes no tensor for a metric.
    "add_metric": """
if not hasattr(keras, "ops") and hasattr(keras.Model, "add_metric"):
    import tensorflow

    a = keras.Input((2,))
    model = keras.Model(a, keras.layers.Dense(2)(a))
    model.add_metric(tensorflow.reduce_mean(model.outputs[0]), name="tried")
""",
    # Before Keras 3 it is TensorFlow's.
    "name scope": "assert hasattr(keras, 'name_scope') or not hasattr(keras, 'ops')",
    "remat": "keras.RematScope",
    "clone name scope": "keras.name_scope",
    "clone remat": "keras.RematScope",
    "load": "keras.saving.load_model",
    "SavedModel": """
import inspect
assert "save_format" in inspect.signature(keras.Model.save).parameters
""",
    "copies of models": """
owns = [name for base in keras.Model.__mro__[:-1] for name in vars(base) if base.__name__ != "Layer"]
assert {"__reduce__", "__deepcopy__", "__getstate__"}.intersection(owns)
""",
    "Normalization.invert": "keras.layers.Normalization(mean=0.0, variance=1.0, invert=True)",
    "TextVectorization.split=character": "keras.layers.TextVectorization(split='character')",
    "TextVectorization.standardize": """
assert keras.backend.backend() == "tensorflow"
keras.layers.TextVectorization(standardize="lower", vocabulary=["a"])(keras.Input((1,), dtype="string"))
""",
    # Up to 3.10 it gives the very tensor that it is given, which then comes of nothing.
    "RandomGrayscale": """
a = keras.Input((2, 2, 3))
assert keras.layers.RandomGrayscale()(a) is not a
""",
    # Before 2.3 a model of tf.keras forgets what its layers are called on but for the first and what has a name.
    "SumAll": """
import numpy


class AddsAll(keras.layers.Layer):
    def call(self, *xs):
        return xs[0] + xs[1]


a = keras.Input((2,))
assert float(keras.Model(a, AddsAll()(a, a))(numpy.ones((1, 2), "float32"))[0, 0]) == 2.0
""",
    "operator.and": "keras.Input((1,), dtype='bool') & keras.Input((1,), dtype='bool')",
    "idle inputs": """
a, b = keras.Input((2,)), keras.Input((2,))
keras.Model([a, b], [keras.layers.Dense(2)(a), b])
""",
    "later inputs": """
a = keras.Input((2,))
b = keras.layers.Dense(2)(a)
model = keras.Model([b, a], keras.layers.Add()([keras.layers.Dense(2)(b), a]))
assert sum(isinstance(each, keras.layers.InputLayer) for each in model.layers) == 2
""",
}

_NAMED = ("activations", "constraints", "dtype_policies", "initializers", "regularizers")
"""The modules whose classes and functions a graph can name."""
# What some release says that it has and cannot do, by its name or that of its argument: the shape of a tensor, a text.
_TRIED_OPERATIONS = {
    "ops.argmax.keepdims": ((2,), "ops.argmax(x, axis=-1, keepdims=True)"),
    "ops.argmin.keepdims": ((2,), "ops.argmin(x, axis=-1, keepdims=True)"),
    "ops.batch_normalization": ((2,), "ops.batch_normalization(x, mean=a, variance=a + 1.0, axis=-1, scale=a)"),
    "ops.cross": ((2, 3), "ops.cross(ops.cross(x, x), x)"),
    "ops.image.crop_images": ((3, 3, 1), "ops.image.crop_images(x, 1, 1, 0, 0)[:, :2, :2]"),
    "ops.image.map_coordinates": (
        (4, 4, 2),
        "x * ops.mean(ops.image.map_coordinates(x, 9.0 + numpy.ones((4, 3)), order=1))",
    ),
    "ops.image.pad_images": ((2, 2, 1), "ops.image.pad_images(ops.image.pad_images(x, 1, 1, 0, 0), 1, 1, 0, 0)"),
    "ops.logsumexp": ((2,), "ops.logsumexp(x, axis=-1)"),
    "ops.polar": ((2,), "ops.real(ops.polar(x, x))"),
    "ops.view_as_real": ((2,), "ops.view_as_real(ops.polar(x, x))"),
    "ops.unravel_index": ((2,), "x * ops.mean(ops.unravel_index(ops.cast(x, 'int32'), (2, 3))[0])"),
    "ops.nonzero": ((2,), "x * ops.mean(ops.nonzero(x)[0])"),
    # TensorFlow 2.0 looks at the number of axes of what is in a batch.
    "tf.image.flip_left_right": ((2, 2, 1), "tf.image.flip_left_right(x)"),
    "tf.image.flip_up_down": ((2, 2, 1), "tf.image.flip_up_down(x)"),
}


def offers(framework: Framework) -> dict[str, Any]:
    """What `Offers` declares on the wire."""
    keras = framework.keras
    layers: dict[str, Any] = {}
    for name in dir(keras.layers):
        layer: Any = getattr(keras.layers, name, None)
        is_class = isinstance(layer, type)
        if is_class and issubclass(layer, keras.layers.Layer) and not _other_name(name, layer, keras):
            layers[name] = [_of_constructor(layer, keras.layers.Layer), _arguments(layer.call)]
    names = [
        "%s.%s" % (module, name)
        for module in _NAMED
        for name in dir(getattr(keras, module, None))
        if not name.startswith("_")
    ]
    operations = _of_keras(keras) if hasattr(keras, "ops") else _of_tensorflow()
    for name, (shape, text) in _TRIED_OPERATIONS.items():
        _leave_out(name, operations, functools.partial(_runs, shape, text, keras))
    lacks = [name for name, source in _TRIED.items() if not _builds(source, keras)]
    framework.forget()
    return {"layers": layers, "names": names, "operations": operations, "lacks": lacks}


def _of_keras(keras: Any) -> dict[str, Any]:
    """The functions of `keras.ops` that take a symbolic tensor, by their names, with their arguments."""
    found = {}
    for prefix, module in (("ops.", keras.ops), ("ops.image.", keras.ops.image)):
        for name in dir(module):
            function = getattr(module, name)
            if not name.startswith("_") and inspect.isfunction(function) and _makes_an_operation(function):
                found[prefix + name] = _arguments(function, 0)
    if hasattr(keras.KerasTensor, "__round__"):
        found["operator.round"] = None
    return found


def _leave_out(name: str, operations: dict[str, Any], works: Callable[[], bool]) -> None:
    """Take out an operation, or an argument of one, that does not work."""
    function = name.rpartition(".")[0]
    if name in operations and not works():
        del operations[name]
    elif operations.get(function) and not works():
        operations[function] = [each for each in operations[function] if function + "." + each != name]


def _runs(shape: tuple[int, ...], text: str, keras: Any) -> bool:
    """Whether a model can be made of an operation, and be called."""
    x = keras.Input(shape)
    names = {"ops": getattr(keras, "ops", None), "tf": sys.modules.get("tensorflow"), "numpy": numpy}
    names["a"] = numpy.ones(shape[-1], "float32")
    try:
        model = keras.Model(x, eval(text, {**names, "x": x}))  # noqa: S307 - a text of this module
        model(numpy.zeros((2,) + shape, "float32"))
    except Exception:  # whatever the release says to it
        return False
    return True


def _makes_an_operation(function: Any) -> bool:
    """Whether a function of Keras makes an operation of symbolic tensors: it says so, or another that it calls does."""
    code = inspect.unwrap(function).__code__
    if "symbolic_call" in code.co_names:
        return True
    for name in code.co_names:
        called = function.__globals__.get(name)
        if isinstance(called, type) and hasattr(called, "symbolic_call"):
            return True
        if inspect.isfunction(called) and called.__module__ == function.__module__ and called is not function:
            if name == getattr(called, "__name__", "") and not name.startswith("_") and _makes_an_operation(called):
                return True
    return False


def _of_tensorflow() -> dict[str, Any]:
    """The functions of TensorFlow that a model of its Keras may use, by their names."""
    tensorflow = sys.modules.get("tensorflow")
    found: dict[str, Any] = {"operator.equal": None}
    for place in ("", "math.", "nn.", "linalg.", "image.") if tensorflow is not None else ():
        module = getattr(tensorflow, place[:-1]) if place else tensorflow
        found.update(
            ("tf." + place + name, None) for name in dir(module) if inspect.isfunction(getattr(module, name, 0))
        )
    return found


def _other_name(name: str, layer: Any, keras: Any) -> bool:
    """Whether a layer is there under the name of its class too, as AvgPool1D is AveragePooling1D."""
    own = layer.__name__
    return bool(own != name and getattr(keras.layers, own, None) is layer)


def _of_constructor(layer: Any, last: Any) -> list[str] | None:
    """The arguments of a layer's constructor: those it names, and where it hands others on, those of its base."""
    names: list[str] = []
    for base in layer.__mro__:
        if "__init__" not in vars(base):
            continue
        parameters = _parameters(base.__init__)
        if parameters is None:
            return None
        names.extend(name for name, kind in parameters if kind is not _OTHERS and name not in names)
        if base is last or not any(kind is _OTHERS for _, kind in parameters):
            break
    return names


def _arguments(function: Any, first: int = 1) -> list[str] | None:
    """The names of a function's arguments, but for `self`, None where it takes others too."""
    parameters = _parameters(function, first)
    if parameters is None or any(kind is _OTHERS for _, kind in parameters):
        return None
    return [name for name, _ in parameters]


_OTHERS = inspect.Parameter.VAR_KEYWORD


def _parameters(function: Any, first: int = 1) -> list[tuple[str, Any]] | None:
    """The parameters of a function from the `first` on, with their kinds; None where they cannot be told."""
    # Keras 2 wraps its constructors to take the arguments of Keras 1 as well.
    function = getattr(function, "_original_function", function)
    try:
        parameters = list(inspect.signature(function).parameters.values())[first:]
    except (TypeError, ValueError):
        return None
    if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters):
        return None
    return [(parameter.name, parameter.kind) for parameter in parameters]


def _builds(source: str, keras: Any) -> bool:
    try:
        exec(source, {"keras": keras, "__name__": "__main__"})  # noqa: S102 - a text of this module
    except Exception:  # whatever the release says to it
        return False
    return True
