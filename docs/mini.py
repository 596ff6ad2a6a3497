"""A small clonediff for ten layers, in one file that reads from top to bottom.

    python docs/mini.py              draw 60 models, and print the smallest script of each difference
    python docs/mini.py 500 --seed 7

It draws, builds, clones, compares and reduces models. It needs NumPy, Hypothesis and Keras, but not clonediff. A
comment above each part names the modules of clonediff that do the same, and what else they do.
"""

from __future__ import annotations

import argparse
import gc
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import keras
import numpy as np
from hypothesis import Phase, given, seed, settings
from hypothesis import strategies as st

# 1. Draw. clonediff reads the layers and their arguments from the release (strategies/catalogue.py).

LAYERS = {
    "Activation": ("'relu'", "'softmax'"),
    "Add": ("",),
    "Concatenate": ("",),
    "Dense": ("2", "3, use_bias=False"),
    "Dropout": ("0.5", "0.5, seed=1"),
    "GRU": ("2", "2, return_sequences=True", "2, use_cudnn=False"),
    "Lambda": ("double", "double, mask=not_zero", "lambda x: x * 2"),
    "Masking": ("", "1.0"),
    "SimpleRNN": ("2", "2, return_sequences=True", "2, dropout=0.5, seed=1"),
    "SpatialDropout1D": ("0.5",),
}
"""Ten layers with their arguments. The reducer replaces arguments with simpler ones, which come first."""

MERGING = ("Add", "Concatenate")
"""Layers that are called on a list of two tensors."""

HEAD = """\
import keras
from keras import layers


@keras.saving.register_keras_serializable()
def double(x):
    return x * 2


@keras.saving.register_keras_serializable()
def not_zero(x, mask=None):
    return keras.ops.any(keras.ops.not_equal(x, 0), axis=-1)


x0 = keras.Input((3, 2), name="x0")
"""
"""The beginning of every script. Its input has a name, because Keras renames an unnamed input in every clone."""


@dataclass(frozen=True)
class Instruction:
    """A call of a new layer or, if `reuse`, of the last layer of its kind.

    `inputs` has the numbers of two tensors, modulo the number of tensors, so a program that lost a call stays valid.
    """

    kind: str
    arguments: str
    inputs: tuple[int, int] = (0, 0)
    reuse: bool = False
    frozen: bool = False


Program = tuple[Instruction, ...]

KINDS_AND_ARGUMENTS = [(kind, arguments) for kind, choices in LAYERS.items() for arguments in choices]

INSTRUCTIONS = st.builds(
    lambda choice, inputs, reuse, frozen: Instruction(*choice, inputs, reuse == 3, frozen == 3),
    st.sampled_from(KINDS_AND_ARGUMENTS),
    st.tuples(st.integers(0, 5), st.integers(0, 5)),
    st.integers(0, 3),
    st.integers(0, 3),
)
"""Draws a call. One call in four is of an existing layer, one in four of a frozen layer."""

PROGRAMS = st.lists(INSTRUCTIONS, min_size=1, max_size=7).map(tuple)
"""Draws one to seven calls."""


# 2. Build. No rule decides which tensors a layer accepts: Keras tries the call. A valid call becomes a line of the
# script. clonediff does the same (strategies/build.py) in a child process, and also runs the model on numbers.


@dataclass(frozen=True)
class BuiltModel:
    """A model, and the script that built it."""

    model: Any
    source: str


def build(program: Program) -> BuiltModel | None:
    """Build a model from the calls that Keras accepts; None if it accepts none."""
    keras.utils.clear_session()
    names: dict[str, Any] = {}
    exec(HEAD, names)
    lines: list[str] = []
    tensors, used_tensors = ["x0"], set[str]()
    last_layers: dict[str, str] = {}  # by kind: the name of the last layer
    for number, instruction in enumerate(program, 1):
        for call in _proposals(instruction, number, tensors, last_layers):
            try:
                exec("\n".join(call.lines), names)
            except Exception:  # the call is not valid
                continue
            lines += call.lines
            used_tensors.update(call.inputs)
            tensors.append(f"x{number}")
            last_layers[instruction.kind] = call.layer
            break
    outputs = [name for name in tensors if name not in used_tensors]  # so that every call is part of the model
    if not lines:
        return None
    lines.append(f"model = keras.Model(x0, [{', '.join(outputs)}])")
    exec(lines[-1], names)
    return BuiltModel(names["model"], HEAD + "\n".join(lines) + "\n")


@dataclass(frozen=True)
class Proposal:
    """A call as lines of Python, the name of the layer, and its input tensors."""

    lines: tuple[str, ...]
    layer: str
    inputs: tuple[str, ...]


def _proposals(instruction: Instruction, number: int, tensors: list[str], layers: dict[str, str]) -> Iterator[Proposal]:
    """Propose the call on the chosen tensors, then on the following tensors, in turn."""
    layer, lines = f"layer{number}", [f"layer{number} = layers.{instruction.kind}({instruction.arguments})"]
    if instruction.frozen:
        lines.append(f"{layer}.trainable = False")
    if instruction.reuse and instruction.kind in layers:
        layer, lines = layers[instruction.kind], []
    for offset in range(len(tensors)):
        first, second = (tensors[(index + offset) % len(tensors)] for index in instruction.inputs)
        inputs = (first, second) if instruction.kind in MERGING else (first,)
        args = f"[{first}, {second}]" if instruction.kind in MERGING else first
        yield Proposal((*lines, f"x{number} = {layer}({args})"), layer, inputs)


# 3. Clone and compare. Only the first difference is reported, because many others follow from it. clonediff has 11
# checks in harness/trials/checks, where roots.py decides which differences follow from others.


@dataclass(frozen=True)
class Difference:
    """How a clone differs. `summary` names no layer, so differences of several models can have the same one."""

    summary: str
    detail: str


def first_difference(program: Program) -> tuple[BuiltModel, Difference] | None:
    """Build the model of a program, clone it, and return the first difference."""
    built = build(program)
    if built is None:
        return None
    try:
        clone = keras.models.clone_model(built.model)
    except Exception as error:
        # Name the function: the message and the line differ between models and releases.
        frames = traceback.extract_tb(error.__traceback__)
        frame = [frame for frame in frames if "keras" in Path(frame.filename).parts][-1]
        function = f"{Path(frame.filename).name}:{frame.name}"
        return built, Difference(f"cannot be cloned: {type(error).__name__} in {function}", str(error)[:100])
    difference = next(differences(built.model, clone), None)
    return None if difference is None else (built, difference)


def differences(model: Any, clone: Any) -> Iterator[Difference]:
    """Compare the properties of layers, the graph, weights, masks and outputs."""
    layers, copies = (list(root._flatten_layers(include_self=False)) for root in (model, clone))  # with cells
    if list(map(type, layers)) != list(map(type, copies)):
        yield Difference("layers", f"{len(layers)} in the model, {len(copies)} in the clone")
        return
    for layer, copy in zip(layers, copies, strict=True):
        kind = type(layer).__name__
        expected, found = properties(layer), properties(copy)
        for name, value in expected.items():
            if value != found.get(name):
                yield Difference(f"{name} of a {kind}", f"{value!r} in the model, {found.get(name)!r} in the clone")
        if {*map(id, layer.variables)} & {*map(id, copy.variables)}:
            yield Difference(f"a weight of a {kind} is shared with the clone", layer.name)
    if str(model.get_config()) != str(clone.get_config()):
        yield Difference("graph", "get_config() of the model and of the clone differ")
    weights, clone_weights = ([(weight.path, weight.shape) for weight in root.weights] for root in (model, clone))
    if weights != clone_weights or len(model.variables) != len(clone.variables):
        yield Difference("weights", f"{weights} in the model, {clone_weights} in the clone")
        return
    for variable, clone_variable in zip(model.variables, clone.variables, strict=True):
        clone_variable.assign(variable)  # also the states of seeds: then both drop the same units
    batch = np.random.default_rng(0).integers(-2, 3, (2, 3, 2)).astype("float32")
    for mode in ("inference", "training"):
        outputs = run(model, batch, mode == "training")
        try:
            clone_outputs = run(clone, batch, mode == "training")
        except Exception as error:  # though the original ran
            yield Difference(f"raises in {mode}: {type(error).__name__}", str(error)[:100])
            return
        for (value, mask), (clone_value, clone_mask) in zip(outputs, clone_outputs, strict=True):
            if not np.array_equal(mask, clone_mask):
                yield Difference(f"mask in {mode}", f"{mask} in the model, {clone_mask} in the clone")
            if not np.array_equal(value, clone_value, equal_nan=True):  # on one device, bit for bit
                yield Difference(f"output in {mode}", f"{value.ravel()[:3]}, and {clone_value.ravel()[:3]}")


def properties(layer: Any) -> dict[str, Any]:
    """The plain attributes of a layer by name; its config may omit some."""
    flags = {"trainable": layer.trainable, "supports_masking": layer.supports_masking}
    types = (bool, int, float, str, type(None))
    return flags | {
        name: value for name, value in vars(layer).items() if name[0] != "_" and name != "name" and type(value) in types
    }


def run(model: Any, batch: Any, training: bool) -> list[tuple[Any, Any]]:
    """Call a model; return each output with its mask."""
    outputs = [(output, getattr(output, "_keras_mask", None)) for output in model(batch, training=training)]
    return [(keras.ops.convert_to_numpy(output), None if mask is None else np.array(mask)) for output, mask in outputs]


# 4. Reduce. clonediff reduces programs in the same way (harness/search/reduce.py).


def reduce(program: Program, summary: str) -> Program:
    """Remove and simplify calls of a program while the clone still shows the difference."""
    results = ((reduction, first_difference(reduction)) for reduction in _reductions(program))
    first = next((reduction for reduction, result in results if result and result[1].summary == summary), None)
    return program if first is None else reduce(first, summary)


def _reductions(program: Program) -> Iterator[Program]:
    for index, call in enumerate(program):
        head, tail = program[:index], program[index + 1 :]
        yield (*head, *tail)
        first, second = call.inputs
        pairs = ((0, 0), (first - 1, second), (first, second - 1))
        simpler_calls = [
            *(replace(call, arguments=text) for text in LAYERS[call.kind][: LAYERS[call.kind].index(call.arguments)]),
            *(replace(call, inputs=pair) for pair in pairs if min(pair) >= 0),
            replace(call, frozen=False, reuse=False),
        ]
        yield from ((*head, simpler, *tail) for simpler in simpler_calls if simpler != call)


# 5. Search. clonediff does this in many processes, and until the time is up (harness/campaign).


def search(count: int, seed_: int) -> dict[str, Program]:
    """Draw programs; return the smallest program for each difference, by its summary."""
    found: dict[str, Program] = {}

    @seed(seed_)
    @settings(max_examples=count, phases=[Phase.generate], database=None, deadline=None)
    @given(PROGRAMS)
    def try_program(program: Program) -> None:
        result = first_difference(program)
        if result is not None:
            found.setdefault(result[1].summary, program)

    try_program()
    return {summary: reduce(program, summary) for summary, program in found.items()}


def main() -> None:
    """Print the smallest script for each difference."""
    parser = argparse.ArgumentParser(description="Find models that Keras does not clone, and print them.")
    parser.add_argument("graphs", type=int, nargs="?", default=60, help="how many models to draw [60]")
    parser.add_argument("--seed", type=int, default=0, help="the same seed draws the same models [0]")
    options = parser.parse_args()
    gc.freeze()  # clear_session() collects garbage; do not search all of TensorFlow for it
    found = search(options.graphs, options.seed)
    for summary, program in found.items():
        result = first_difference(program)
        if result is not None:
            built, difference = result
            print(f"# {summary}\n#   {' '.join(difference.detail.split())}\n{built.source}")
            print("clone = keras.models.clone_model(model)\n\n")
    print(f"# Keras {keras.__version__}: {len(found)} differences in {options.graphs} models")


if __name__ == "__main__":
    main()
