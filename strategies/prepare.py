"""Draws preparations (lines that change a model before it is cloned) and clone arguments."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from clonediff.strategies.build import Level, arrange, input_arguments
from clonediff.strategies.choices import Choices
from clonediff.strategies.functions import FORMS
from clonediff.strategies.objects import Objects, draw_object
from clonediff.strategies.program import Apply, Instruction, Preparation, Program

_WEIGHT_BY_KIND = {**dict.fromkeys(("Dense", "EinsumDense", "Conv1D", "Conv2D"), "kernel"), "Embedding": "embeddings"}
_LORA_LAYERS = ("Dense", "EinsumDense", "Embedding")
_LORA_ARGUMENTS = ("rank=1", "rank=2", "rank=1, lora_alpha=3", 'rank=1, a_initializer="ones", b_initializer="ones"')
_ADAPTED_ARGUMENTS: Mapping[str, tuple[str, str]] = {
    "Normalization": (" mean variance ", "np.arange(1, {count} + 1).reshape(2, *{shape}) / 2"),
    "Discretization": (" bin_boundaries ", "np.arange(1, 13) / 2"),
    "IntegerLookup": (" vocabulary ", "np.array([1, 2, 4])"),
    "StringLookup": (" vocabulary ", 'np.array(["red", "green"])'),
    "TextVectorization": (" vocabulary ", 'np.array(["red", "green", "a"])'),
}
"""The arguments that the `adapt` of each layer learns, and data to learn them from."""
_SESSION_SETTINGS = (
    'keras.config.set_image_data_format("channels_first")',
    'keras.config.set_floatx("float64")',
    'keras.config.set_floatx("float16")',
    "keras.config.disable_flash_attention()",
    "keras.config.enable_unsafe_deserialization()",
)
_POLICIES = tuple(f'keras.config.set_dtype_policy("{name}")' for name in ("mixed_bfloat16", "float64"))
_QUANTIZE_CALLS = tuple(f'<it>.quantize("{mode}")' for mode in ("int8", "float8", "int4"))
_OPTIMIZER_MAP = 'keras.optimizers.OptimizerMap(keras.optimizers.SGD(0.5), {".*kernel": keras.optimizers.Adam(0.5)})'
_OPTIMIZERS = (
    *('"sgd"', "keras.optimizers.SGD(learning_rate=0.5, momentum=0.25)"),
    *('keras.optimizers.Adam(clipnorm=1.0, name="mine")', "<Steady>(0.5)", "<OwnSteady>(0.5)"),
    "keras.optimizers.Adam(learning_rate=keras.optimizers.schedules.ExponentialDecay(0.5, 10, 0.5))",
    *(f"keras.optimizers.SGD({text})" for text in FORMS["schedule"].values()),
    f"keras.optimizers.MultiOptimizer({_OPTIMIZER_MAP})",
    "keras.optimizers.MultiOptimizer(lambda variable: keras.optimizers.SGD(0.5))",
)
_LOSSES = (
    *('"mse"', "keras.losses.mean_absolute_error", 'keras.losses.MeanSquaredError(reduction="sum")'),
    *("keras.losses.Huber(delta=2.0)", "keras.losses.CosineSimilarity(axis=1)", "keras.losses.MeanSquaredError"),
    *("keras.losses.BinaryCrossentropy(from_logits=True)", *FORMS["loss"].values()),
)
_METRICS = (
    *('"mae"', "keras.metrics.BinaryAccuracy(threshold=0.25)", "keras.metrics.CosineSimilarity(axis=1)"),
    *('keras.metrics.MeanAbsoluteError(name="error")', "keras.metrics.MeanSquaredError", *FORMS["metric"].values()),
)
_COMPILE_OPTIONS = {"run_eagerly": ("True",), "steps_per_execution": ("2",), "jit_compile": ("False", "True")}
_COMPILED_SETTINGS = (
    'loss = "mae"',
    "run_eagerly = True",
    "optimizer.learning_rate = 0.25",
    "optimizer.clipnorm = 0.5",
)
"""Attributes that are set on a compiled model."""
_ATTACHED_VALUES = (
    *("layers.Dense(4)", "3", '"a"', '[1, "a"]', '{"a": 1.0}', "np.arange(3)", "keras.metrics.Mean()", "lambda x: x"),
    *("model.layers[-1]", "[model.layers[0], model.layers[-1]]", "keras.Model(model.inputs, model.layers[-1].output)"),
    *("<double_named>", "<double_over>(layers.Embedding(1, 1))", "<DoubleFactor>(2.0)"),
)
"""Values that are attached to a model or a layer as an attribute."""
_ATTRIBUTE_SETTINGS = (
    *('name = "other"', "activation = None", "input_spec = None", "supports_masking = False"),
    *("activity_regularizer = keras.regularizers.L2(0.5)", "rate = 0.25", "seed = 3"),
)
"""Attributes that are set on a layer, if it has them."""


class Draft(NamedTuple):
    """A model before its preparations, and the release's objects for `compile`."""

    program: Program
    level: Level
    objects: Objects


def _compile_lines(choices: Choices, draft: Draft) -> list[str]:
    """Draw a call of `compile`, with one loss and metric, or one per output."""
    arguments: dict[str, str] = {}

    def draw_value(role: str, texts: Sequence[str]) -> str:
        drawn = draw_object(role, draft.objects, choices) if choices.number(8) >= 5 else ""
        return drawn or choices.pick(texts)

    if choices.number(2):
        arguments["optimizer"] = draw_value("optimizer", _OPTIMIZERS)
    for name, role, texts in (("loss", "loss", _LOSSES), ("metrics", "metric", _METRICS)):
        if choices.number(8) >= 2:
            text = draw_value(role, texts)
            text = f"[{text}]" if name == "metrics" else text
            plain = '["mse"]' if name == "metrics" else '"mse"'
            arguments[name] = _repeat_for_outputs(text, plain, choices, draft)
    if choices.chance(6):
        arguments["weighted_metrics"] = f"[{draw_value('metric', _METRICS)}]"
    if "loss" in arguments and choices.chance(6):
        has_several = len(draft.program.outputs) > 1
        arguments["loss_weights"] = _repeat_for_outputs("0.5", "0.5", choices, draft) if has_several else "0.5"
    for name, texts in _COMPILE_OPTIONS.items():
        if choices.chance(6):
            arguments[name] = choices.pick(texts)
    line = f"<it>.compile({', '.join(f'{name}={text}' for name, text in arguments.items())})"
    return [line, f"<it>.{choices.pick(_COMPILED_SETTINGS)}"] if choices.chance(6) else [line]


def _attach_lines(choices: Choices, on: int | None) -> list[str]:
    # tf_keras would walk without end over a layer that holds itself.
    text = choices.pick([value for value in _ATTACHED_VALUES if on is None or "model." not in value])
    return [f"<it>.extra = {text}", *(["<it>.extra.build((None, 4))"] if "Dense" in text and choices.number(2) else [])]


def _repeat_for_outputs(text: str, plain: str, choices: Choices, draft: Draft) -> str:
    count, arrangement = len(draft.program.outputs), draft.program.gives
    if arrangement == "dict" and choices.chance(3):
        return f'{{"out_0": {text}}}'
    if count > 1 and (choices.chance(2) or text == "0.5"):
        plain = text if text.startswith("<shared_") else plain
        return arrange([text, *[plain] * (count - 1)], "dict" if arrangement == "dict" else "list", "out")
    return text


def _adapt_lines(choices: Choices, draft: Draft, index: int) -> list[str]:
    apply = draft.program.body[index]
    shape = tuple(size or 3 for size in draft.level.output(apply.tensors[0]).shape)
    return [f"<it>.adapt({_ADAPTED_ARGUMENTS[_kind(draft, index)][1].format(shape=shape, count=2 * math.prod(shape))})"]


def remove_adapted_arguments(body: Sequence[Instruction], on: int) -> tuple[Instruction, ...]:
    """Remove the arguments that a layer's `adapt` learns."""
    apply = body[on]
    assert isinstance(apply, Apply)
    others = tuple(pair for pair in apply.arguments if f" {pair[0]} " not in _ADAPTED_ARGUMENTS[apply.kind][0])
    bins = (("num_bins", "4"),) if apply.kind == "Discretization" else ()
    return (*body[:on], replace(apply, arguments=(*bins, *others)), *body[on + 1 :])


def draw_preparation(choices: Choices, draft: Draft) -> Preparation:
    """Draw a preparation that fits the layers of the model."""
    kinds = [(index, step.kind) for index, step in enumerate(draft.program.body) if isinstance(step, Apply)]
    layers = [(index, kind) for index, kind in kinds if draft.level.layers[index]]
    candidates: Mapping[str, Sequence[int]] = {
        "weight trainable": [index for index, kind in layers if kind in _WEIGHT_BY_KIND],
        "adapt": [index for index, kind in layers if kind in _ADAPTED_ARGUMENTS],
        "set": [index for index, _ in layers],
        "lora": [index for index, kind in layers if kind in _LORA_LAYERS],
    }
    name = choices.pick([name for name in _WEIGHTED_NAMES if candidates.get(name, (0,))])
    on: int | None = None
    if name in candidates:
        on = choices.pick(candidates[name])
    elif name == "trainable" and layers and choices.number(3):
        on = choices.pick(layers)[0]
    elif name == "hang" and candidates["weight trainable"] and choices.chance(4):
        on = choices.pick(candidates["weight trainable"])
    return Preparation(name, tuple(_PREPARATIONS[name][1](choices, draft, on)), on)


def _kind(draft: Draft, on: int | None) -> str:
    apply = draft.program.body[on or 0]
    return apply.kind if isinstance(apply, Apply) else ""


_PREPARATIONS: Mapping[str, tuple[int, Callable[[Choices, Draft, int | None], list[str]]]] = {
    "compile": (6, lambda choices, draft, on: _compile_lines(choices, draft)),
    "trainable": (3, lambda choices, draft, on: [f"<it>.trainable = {choices.pick(('False', 'False', 'True'))}"]),
    "weight trainable": (3, lambda choices, draft, on: [f"<it>.{_WEIGHT_BY_KIND[_kind(draft, on)]}.trainable = False"]),
    "policy": (1, lambda choices, draft, on: [choices.pick(_POLICIES)]),
    "session": (2, lambda choices, draft, on: [choices.pick(_SESSION_SETTINGS)]),
    "adapt": (9, lambda choices, draft, on: _adapt_lines(choices, draft, on or 0)),
    "lora": (4, lambda choices, draft, on: [f"<it>.enable_lora({choices.pick(_LORA_ARGUMENTS)})"]),
    "quantize": (2, lambda choices, draft, on: [choices.pick(_QUANTIZE_CALLS)]),
    "hang": (5, lambda choices, draft, on: _attach_lines(choices, on)),
    "set": (1, lambda choices, draft, on: [f"<it>.{choices.pick(_ATTRIBUTE_SETTINGS)}"]),
}
"""The preparations by name: how often each is drawn, and a function that draws its lines."""
_WEIGHTED_NAMES = [name for name, (weight, _) in _PREPARATIONS.items() for _ in range(weight)]

CLONE_ARGUMENTS = (
    *("fresh", "listed", "layers", "own", "call_function", "recursive", "fresh call_function recursive"),
    "layers recursive",
)
"""The arguments of `clone_model`. "fresh": new inputs; "listed": new inputs in a list; "layers": new `InputLayer`s;
"own": the inputs of the model; "call_function": a function that calls the layer; "recursive": clone nested models."""


def clone_arguments(program: Program) -> dict[str, str]:
    """The arguments of `clone_model`: expressions by name."""
    arguments: dict[str, str] = {}
    names, is_keras_3 = program.clone_arguments.split(), program.generation == "keras"
    if "call_function" in names:
        arguments["call_function"] = "lambda layer, *args, **kwargs: layer(*args, **kwargs)"
    if "recursive" in names:
        arguments["recursive"] = "True"
    if names[0] == "own":
        arguments["input_tensors"] = "model.inputs" if program.sequential else "model.input"
    elif names[0] in ("fresh", "listed", "layers"):
        function = "layers.InputLayer" if names[0] == "layers" else "keras.Input"
        inputs = [f"{function}({input_arguments(spec)})" for spec in program.inputs]
        text = arrange(inputs, program.takes, "in") if is_keras_3 else f"[{', '.join(inputs)}]"
        arguments["input_tensors"] = f"[{text}]" if names[0] == "listed" else text
    return arguments
