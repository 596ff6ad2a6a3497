"""States: what is done to a model before it is cloned, and what of it suits a graph.

Owns the table of the steps. What may stand beside what is `strategies.unsuited_states`'s to say, and how a step is
typed `harness.source.states`'s.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from strategies.compiling import OF_KERAS2, VALUES, Values, compiled, that_compiles
from strategies.graph import (
    Array,
    Function,
    Graph,
    Layer,
    Made,
    Named,
    Ref,
    Seq,
    Value,
    all_layers,
    leaves,
    levels,
    made_layers,
    refs,
)
from strategies.kinds import CATALOGUE, LEFT_OUT, Generation
from strategies.kinds.arguments import made
from strategies.learning import learns, of_numbers
from strategies.own_models import owns
from strategies.pruning import costs
from strategies.scopes import built_policy, name_scope, policy, remat, that_casts, without_masks
from strategies.targets import Target, every_layer, level_of, targets
from strategies.typing import fed, infer

KERAS: tuple[Generation, ...] = ("keras",)
TF_KERAS: tuple[Generation, ...] = ("tf_keras",)
BOTH: tuple[Generation, ...] = ("keras", "tf_keras")
NOT_TF_KERAS: tuple[Generation, ...] = ("keras", "keras2")
ALL: tuple[Generation, ...] = ("keras", "tf_keras", "keras2")


@dataclass(frozen=True, slots=True)
class StepSort:
    """A sort of step: what `happened`, the `generations` that have it, what it can be done to, and its arguments.

    `on` gives the kinds of layers, None for the model itself; `args` the values of each argument, the simplest first,
    which is `LEFT_OUT` where it need not be given; they are asked of any kind, and graph. With `one`, exactly one of
    the arguments is given. A step that `runs` the model leaves other values in its states. One that is `costly` takes
    more time than the rest of a trial, and is for some graphs only.
    """

    happened: str
    generations: tuple[Generation, ...]
    on: Callable[[Graph], Iterable[str | None]]
    args: Callable[[Graph, str | None], Mapping[str, Values]]
    one: bool = False
    runs: bool = False
    costly: bool = False


RATE = 2
"""Of so many graphs to which something is done, it is something costly with one, where nothing else is asked for."""


def _model(graph: Graph) -> Iterator[str | None]:
    yield None


def _model_and_layers(graph: Graph) -> Iterator[str | None]:
    yield None
    yield from targets(graph)


def _trainable(graph: Graph, kind: str | None) -> dict[str, Values]:
    return {"trainable": (False, True)}


def _of_a_weight(graph: Graph) -> Iterator[str | None]:
    for kind, target in targets(graph).items():
        if kind in _WEIGHTS and target.layer.arg("lora_rank") is None and not target.attributes:
            yield kind


def _weight_trainable(graph: Graph, kind: str | None) -> dict[str, Values]:
    return {f"{_WEIGHTS[kind]}.trainable": (False,)} if kind in _WEIGHTS else {}


_WEIGHTS = {
    "Dense": "kernel",
    "EinsumDense": "kernel",
    "Conv1D": "kernel",
    "Conv2D": "kernel",
    "Embedding": "embeddings",
}
"""A weight that is an attribute of each layer of a kind."""


def _that_can_be_set(graph: Graph) -> Iterator[str | None]:
    for kind in targets(graph):
        if _settable(graph, kind):
            yield kind


def _settable(graph: Graph, kind: str | None) -> dict[str, Values]:
    """What can be set on a layer that its documentation names as an argument, or a flag; one of it is."""
    target = targets(graph).get(kind or "")
    if target is None or target.attributes:
        return {}
    found: dict[str, Values] = {}
    if kind in _ACTIVATED:
        found["activation"] = (Named("activations.tanh"), Named("activations.softsign"))
    if kind in _DROPPING and target.layer.arg("rate") not in (0, 0.0):
        found["rate"] = (0.25,)
    if kind in _NORMALIZING:
        found["epsilon"] = (0.25,)
    if kind in _MASKLESS:
        found["supports_masking"] = (True,)
    if kind in _ACTIVATED:
        found["activity_regularizer"] = (made("regularizers.L1L2", l1=0.25, l2=0.5),)
    # Before Keras 3 `name` cannot be set, and of a layer with another `_name` tf_keras does not find the calls.
    if graph.generation == "keras" and kind in (*_ACTIVATED, *_DROPPING, *_NORMALIZING):
        found["name"] = ("renamed",)
    return found


_ACTIVATED = ("Dense", "EinsumDense", "Conv1D", "Conv2D")
_DROPPING = ("Dropout", "SpatialDropout1D", "GaussianDropout")
_NORMALIZING = ("LayerNormalization", "BatchNormalization")
_MASKLESS = ("Conv1D", "ZeroPadding1D", "Cropping1D", "UpSampling1D", "MaxPooling1D", "AveragePooling1D")


def _nothing(graph: Graph, kind: str | None) -> dict[str, Values]:
    return {}


def _once_called(graph: Graph) -> Iterator[str | None]:
    """Layers that are called once, on all that they are given first; and the model.

    Keras 2 adds what such a call costs to the losses of the model, which it is none of.
    """
    if graph.generation == "keras2" and any(map(costs, all_layers(graph))):
        return
    if graph.base is None:
        yield None
    for kind, target in targets(graph).items():
        level = level_of(graph, target.place)
        calls = [call for call in level.calls if call.layer == target.place[-1]]
        plain = len(calls) == 1 and len(calls[0].args) == 1 and not calls[0].kwargs
        # The input of a layer is one tensor or a list of several, whatever they stood in.
        plain = plain and (isinstance(calls[0].args[0], Ref) or _is_list(calls[0].args[0]))
        # The input of a layer that was called beside a mask is that mask as well.
        plain = plain and not any(spec.mask for spec in fed(calls[0], infer(level)))
        if plain and not target.attributes and target.layer.graph is None:
            yield kind


def _in_another(graph: Graph) -> Iterator[str | None]:
    """Layers of the model's own that gave something once, so that another model can give that too."""
    there = targets(graph) if graph.base is None and not graph.sequential else {}
    for kind in _once_called(graph) if there else ():
        if kind is not None and len(there[kind].place) == 1:
            yield kind


def _functional(graph: Graph) -> Iterator[str | None]:
    """What is hung on a Sequential, Keras keeps no account of."""
    if graph.base is None and not graph.sequential:
        yield None


def _hung(graph: Graph, kind: str | None) -> dict[str, Values]:
    return {"layer": (Made(Layer("Dense", (("units", 4),))),), "built": (LEFT_OUT, True)}


def _is_list(value: Value) -> bool:
    return isinstance(value, Seq) and len(value.items) > 1 and all(isinstance(item, Ref) for item in value.items)


def _that_runs(graph: Graph) -> Iterator[str | None]:
    if graph.base is None and not any(given.fill == "words" for given in graph.inputs):
        yield None


def _that_gives_floats(graph: Graph) -> Iterator[str | None]:
    first = next(refs(graph.gives))
    if graph.base is None and infer(graph)[first.node][first.output].dtype == "float32":
        yield None


def _that_trains(graph: Graph) -> Iterator[str | None]:
    """Models that give floats only, of which a loss can be taken, and that learn from it."""
    if graph.generation == "keras2" and any(layer.kind == "BatchNormalization" for layer in all_layers(graph)):
        return  # How often it moved its averages, Keras 2.2 keeps in variables that are no weights.
    specs = infer(graph)
    if all(specs[ref.node][ref.output].dtype == "float32" for ref in refs(graph.gives)) and learns(graph):
        yield from _that_runs(graph)


def _trained(graph: Graph, kind: str | None) -> dict[str, Values]:
    if graph.generation == "keras2":
        return OF_KERAS2
    args: dict[str, Values] = {
        "optimizer": (
            "sgd",
            made("optimizers.SGD", learning_rate=0.5, momentum=0.25),
            made("optimizers.Adam", clipnorm=1.0),
        ),
        "loss": ("mse", made("losses.Huber", delta=2.0)),
    }
    # A list of metrics is one for each output.
    return {**args, "metrics": (LEFT_OUT, Seq(("mae",)))} if isinstance(graph.gives, Ref) else args


def _that_loads(graph: Graph) -> Iterator[str | None]:
    """Models of Keras' own layers only: what is somebody's own has to be registered to be found again."""
    # tf_keras does not read back every operation, and Keras 3 not every array.
    families = (*_OF_ONES_OWN, *(("operations",) if graph.generation == "tf_keras" else ()))
    values = [value for level in levels(graph) for call in level.calls for value in call.args]
    values += [value for layer in all_layers(graph) for _, value in layer.args]
    plain = not any(isinstance(leaf, Function | Array) for value in values for leaf in leaves(value))
    kinds = [CATALOGUE[layer.kind] for layer in all_layers(graph) if layer.kind in CATALOGUE]
    plain = plain and not owns(graph) and not any(level.base is not None for level in levels(graph))
    if plain and not any(kind.family in families or kind.name in _NOT_READ_BACK for kind in kinds):
        yield None


_OF_ONES_OWN = ("lambdas", "custom")
_NOT_READ_BACK = ("RandomShear",)
"""Kinds of which Keras refuses its own config."""


def _run(graph: Graph, kind: str | None) -> dict[str, Values]:
    # In graph mode a model is run by a session, and whether it trains is a tensor.
    return {} if graph.generation == "keras2" else {"training": (LEFT_OUT, True)}


_WITHIN: Values = ("clone", "model", "both")
"""What is made within the scope in which a function of one's own is found: the clone, the model, or the one and the
other. Where it is the model, and Keras looks up such a name, the layer is given the name of the function."""
OWN_CLASS = "class"
"""That the class of the layer is found in the scope, and registered nowhere; not one that a wrapper reads back."""


def _with_own(graph: Graph) -> Iterator[str | None]:
    """Layers that take a function of one's own for something that they were not given, or are of an own class."""
    for kind in targets(graph):
        if _own(graph, kind)["takes"]:
            yield kind


def _own(graph: Graph, kind: str | None) -> dict[str, Values]:
    target = targets(graph).get(kind or "")
    if target is None or target.attributes:
        return {"takes": (), "within": _WITHIN}
    known = CATALOGUE.get(target.layer.kind)
    if known is not None and known.family == "custom":
        held = any(each.kind == kind for layer in all_layers(graph) for each in made_layers(layer))
        return {"takes": () if held else (OWN_CLASS,), "within": _WITHIN}
    if kind not in _ACTIVATED:
        return {"takes": (), "within": _WITHIN}
    # Before 3.15, Keras 3 takes no function for a regularizer.
    names = ("activation", *(() if graph.generation == "keras" else ("kernel_regularizer",)), "kernel_initializer")
    return {"takes": tuple(name for name in names if target.layer.arg(name) is None), "within": _WITHIN}


_RECURRENT = ("LSTM", "GRU", "SimpleRNN", "RNN")


def _recurrent(graph: Graph) -> Iterator[str | None]:
    """Recurrent layers of the model's own, that are called once and begin with zeros."""
    runs_ = list(_that_runs(graph))
    for kind, target in targets(graph).items() if runs_ else ():
        calls = [call for call in graph.calls if call.layer == target.place[0]]
        plain = len(target.place) == 1 and not target.attributes and len(calls) == 1 and not calls[0].kwargs
        if kind in _RECURRENT and plain:
            yield kind


LEARNED: Mapping[str, tuple[str, ...]] = {
    "Normalization": ("mean", "variance"),
    "Discretization": ("bin_boundaries",),
    "IntegerLookup": ("vocabulary",),
    "StringLookup": ("vocabulary",),
    "TextVectorization": ("vocabulary",),
}
"""The arguments of a layer that are left out where it is adapted: it learns from data what they would tell."""


def _adaptable(graph: Graph) -> Iterator[str | None]:
    for kind, target in targets(graph).items():
        # Other ways to look up need to know how many words there will be.
        counts = kind.endswith("Lookup") and target.layer.arg("output_mode", "int") != "int"
        if kind in LEARNED and not target.attributes and not counts and _data(graph, target) is not None:
            yield kind


def _adapted(graph: Graph, kind: str | None) -> dict[str, Values]:
    target = targets(graph).get(kind or "")
    data = None if target is None else _data(graph, target)
    return {"data": () if data is None else (data,)}


def _data(graph: Graph, target: Target) -> Value:
    """What a layer learns from: the words that it was to have, or numbers like those that it is called on."""
    vocabulary = target.layer.arg("vocabulary")
    if vocabulary is not None:
        return vocabulary if isinstance(vocabulary, Seq) else None
    level = level_of(graph, target.place)
    call = next(call for call in level.calls if call.layer == target.place[-1])
    shape = fed(call, infer(level))[0].shape
    return None if None in shape else Array((2, *(size or 0 for size in shape)))


_LOW_RANK = ("Dense", "EinsumDense", "Embedding")
_QUANTIZED = (*_LOW_RANK, "MultiHeadAttention", "GroupQueryAttention")
"""Kinds that can be quantized, or that hold layers that can."""
_CONSTRAINTS = ("kernel_constraint", "embeddings_constraint")


def _of_low_rank(graph: Graph) -> Iterator[str | None]:
    for kind, target in targets(graph).items():
        layer = target.layer
        refuses = any(layer.arg(name) is not None for name in ("lora_rank", *_CONSTRAINTS))
        if kind in _LOW_RANK and not refuses and not target.attributes:
            yield kind


def _low_rank(graph: Graph, kind: str | None) -> dict[str, Values]:
    return {"rank": (1, 2), "lora_alpha": (LEFT_OUT, 3)}


def _quantizable(graph: Graph) -> Iterator[str | None]:
    layers = [target.layer for target in every_layer(graph, ())]
    # The quantized kernel of an EinsumDense is laid out by the length of an output shape that may be a number.
    number = any(layer.kind == "EinsumDense" and isinstance(layer.arg("output_shape"), int) for layer in layers)
    plain = all(layer.dtype is None for layer in layers)
    # Around a kernel that is quantized when it is made, a SpectralNormalization draws random whole numbers, and fails;
    # the lookup in a TextVectorization is not built, which Keras asks for before it quantizes anything.
    refuses = any(layer.kind in ("SpectralNormalization", "TextVectorization") for layer in layers)
    if plain and not number and not refuses and any(layer.kind in _QUANTIZED for layer in layers):
        yield None


def _quantized(graph: Graph, kind: str | None) -> dict[str, Values]:
    # A packed kernel of four bits is no weight any more that LoRA could freeze.
    lora = any(target.layer.arg("lora_rank") is not None for target in every_layer(graph, ()))
    return {"mode": ("int8", "float8") if lora else ("int8", "float8", "int4")}


def within(value: Value) -> Iterator[Value]:
    """Everything in a value, and in what the objects that it names are made with."""
    for leaf in leaves(value):
        yield leaf
        if isinstance(leaf, Named):
            for _, given in leaf.args or ():
                yield from within(given)


def runs(graph: Graph) -> bool:
    """Whether a model has run before it is cloned, so that its states are not what they begin with."""
    return any(STEPS[step.does].runs for step in graph.state if step.does in STEPS)


def costly(graph: Graph) -> bool:
    """Whether something is done to a model that takes more time than the rest of a trial."""
    return any(STEPS[step.does].costly for step in graph.state if step.does in STEPS)


STEPS: Mapping[str, StepSort] = {
    "compile": StepSort("compiled", NOT_TF_KERAS, that_compiles, compiled),
    "trainable": StepSort("trainable set later", ALL, _model_and_layers, _trainable),
    "weight trainable": StepSort("a weight frozen", KERAS, _of_a_weight, _weight_trainable),
    "set": StepSort("set later", BOTH, _that_can_be_set, _settable, one=True),
    "call": StepSort("called once more", ALL, _once_called, _nothing),
    "run": StepSort("run before", ALL, _that_runs, _run, runs=True),
    "add_loss": StepSort("a loss added", TF_KERAS, _that_gives_floats, _nothing),
    "add_metric": StepSort("a metric added", TF_KERAS, _that_gives_floats, _nothing),
    "policy": StepSort("another global policy", BOTH, _model, policy),
    "built policy": StepSort("built under another global policy", BOTH, that_casts, built_policy),
    "name scope": StepSort("built in a name scope", BOTH, _model, name_scope),
    "remat": StepSort("built in a RematScope", KERAS, without_masks, remat),
    "clone name scope": StepSort("cloned in a name scope", KERAS, _model, name_scope),
    "clone remat": StepSort("cloned in a RematScope", KERAS, without_masks, remat),
    "objects": StepSort("with a function or a class found in a custom_object_scope", BOTH, _with_own, _own),
    "adapt": StepSort("adapted", BOTH, _adaptable, _adapted),
    "set weights": StepSort("weights set", ALL, of_numbers, _nothing, runs=True),
    "lora": StepSort("low rank enabled later", KERAS, _of_low_rank, _low_rank),
    "quantize": StepSort("quantized", KERAS, _quantizable, _quantized, costly=True),
    "stateful": StepSort("keeps its state, and run", ALL, _recurrent, _nothing, runs=True),
    "train": StepSort("trained for a step", ALL, _that_trains, _trained, runs=True, costly=True),
    "hang": StepSort("a layer hung on it", BOTH, _functional, _hung),
    "other model": StepSort("its layers in another model", ALL, _in_another, _nothing),
    "load": StepSort("saved and loaded", BOTH, _that_loads, _nothing, costly=True),
}
"""What can be done to a model, by name."""


PATHS = frozenset(
    (
        *(leaf.path for value in VALUES for leaf in within(value) if isinstance(leaf, Named)),
        *("activations.tanh", "activations.softsign", "regularizers.L1L2"),
    )
)
"""The classes and functions of Keras that a step can name."""
