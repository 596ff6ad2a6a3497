"""clonediff in small: all that it does, for ten layers, in one file to be read from top to bottom.

    python docs/mini.py              draw 60 models, and print the smallest script of each break that they show
    python docs/mini.py 500 --seed 7

Propose, clone, compare, reduce. It needs NumPy, Hypothesis and Keras, and nothing of clonediff. It is also the harness
that one writes first: what it leaves out, and where clonediff has it, stands beside each part.
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

# 1. What there is to draw. clonediff reads all of it from the release (strategies/catalogue.py).

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
"""Ten layers, with arguments for each, the simplest first: what breaks with others is tried with these, too."""

TWO = ("Add", "Concatenate")
"""Those that are called on a list of two tensors."""

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
"""How every script begins. The input has a name: an input without one has another name in every clone."""


@dataclass(frozen=True)
class Instruction:
    """A call to propose: of a new layer, or of the one that was made last if `again`, on the tensors that are chosen.

    Tensors are numbers, counted round, so that whatever is left out of a program, the rest of it is one.
    """

    kind: str
    arguments: str
    on: tuple[int, int] = (0, 0)
    again: bool = False
    frozen: bool = False


Program = tuple[Instruction, ...]

CHOICES = [(kind, arguments) for kind, its in LAYERS.items() for arguments in its]

INSTRUCTIONS = st.builds(
    lambda choice, on, again, frozen: Instruction(choice[0], choice[1], on, again == 3, frozen == 3),
    st.sampled_from(CHOICES),
    st.tuples(st.integers(0, 5), st.integers(0, 5)),
    st.integers(0, 3),
    st.integers(0, 3),
)
"""Draws a call, one in four of a layer that is there already, one in four of a frozen layer."""

PROGRAMS = st.lists(INSTRUCTIONS, min_size=1, max_size=7).map(tuple)
"""Draws one to seven calls."""


# 2. Propose. No rule says which tensors a layer takes: Keras tries the call, and what it accepts is a line of the
# script. clonediff does likewise (strategies/build.py), in a process of its own, and on numbers, too.


@dataclass(frozen=True)
class Built:
    """A model, and the script that makes it: the source is the model, so what is printed is what ran."""

    model: Any
    source: str


def propose(program: Program) -> Built | None:
    """Make the model of a program, of the calls that Keras accepts; None where it accepts none."""
    keras.utils.clear_session()
    names: dict[str, Any] = {}
    exec(HEAD, names)
    lines: list[str] = []
    tensors, taken = ["x0"], set[str]()
    made: dict[str, str] = {}  # by kind, the layer that was made last
    for number, instruction in enumerate(program, 1):
        for call in _proposals(instruction, number, tensors, made):
            try:
                exec("\n".join(call.lines), names)
            except Exception:  # an exception means no
                continue
            lines += call.lines
            taken.update(call.on)
            tensors.append(f"x{number}")
            made[instruction.kind] = call.layer
            break
    outputs = [name for name in tensors if name not in taken]  # so that every call is part of the model
    if not lines:
        return None
    lines.append(f"model = keras.Model(x0, [{', '.join(outputs)}])")
    exec(lines[-1], names)
    return Built(names["model"], HEAD + "\n".join(lines) + "\n")


@dataclass(frozen=True)
class Proposal:
    """A call as lines of Python, the layer that is called, and the tensors that it takes."""

    lines: tuple[str, ...]
    layer: str
    on: tuple[str, ...]


def _proposals(instruction: Instruction, number: int, tensors: list[str], made: dict[str, str]) -> Iterator[Proposal]:
    """The call on the tensors that were chosen, then on all others in turn."""
    layer, lines = f"layer{number}", [f"layer{number} = layers.{instruction.kind}({instruction.arguments})"]
    if instruction.frozen:
        lines.append(f"{layer}.trainable = False")
    if instruction.again and instruction.kind in made:
        layer, lines = made[instruction.kind], []
    for turn in range(len(tensors)):
        one, other = (tensors[(each + turn) % len(tensors)] for each in instruction.on)
        on = (one, other) if instruction.kind in TWO else (one,)
        args = f"[{one}, {other}]" if instruction.kind in TWO else one
        yield Proposal((*lines, f"x{number} = {layer}({args})"), layer, on)


# 3. Clone and compare. Only the first difference is reported, since much of the rest follows from it. clonediff has 11
# checks, and finds out what follows from what (harness/trials/checks, roots.py there).


@dataclass(frozen=True)
class Break:
    """A promise that the clone breaks. `what` is the same for every model that shows it, so it has no name in it."""

    what: str
    detail: str


def look(program: Program) -> tuple[Built, Break] | None:
    """Build the model of a program and clone it: what breaks first, if anything does."""
    built = propose(program)
    if built is None:
        return None
    try:
        clone = keras.models.clone_model(built.model)
    except Exception as error:
        # By its message, or its line, a cause would have another name in each model and in each release.
        frames = traceback.extract_tb(error.__traceback__)
        place = [each for each in frames if "keras" in Path(each.filename).parts][-1]
        where = f"{Path(place.filename).name}:{place.name}"
        return built, Break(f"cannot be cloned: {type(error).__name__} in {where}", str(error)[:100])
    found = next(breaks(built.model, clone), None)
    return None if found is None else (built, found)


def breaks(model: Any, clone: Any) -> Iterator[Break]:
    """What of the clone is not as in the model: properties of layers, the graph, weights, masks, what it computes."""
    layers, copies = (list(each._flatten_layers(include_self=False)) for each in (model, clone))  # cells, too
    if [type(each) for each in layers] != [type(each) for each in copies]:
        yield Break("other layers", f"{len(layers)} in the model, {len(copies)} in the clone")
        return
    for one, other in zip(layers, copies, strict=True):
        kind = type(one).__name__
        mine, theirs = properties(one), properties(other)
        for name in mine:
            if mine[name] != theirs.get(name):
                yield Break(f"{name} of a {kind}", f"{mine[name]!r} in the model, {theirs.get(name)!r} in the clone")
        if any(weight is its for weight in one.variables for its in other.variables):
            yield Break(f"a weight of a {kind} is shared with the clone", one.name)
    if str(model.get_config()) != str(clone.get_config()):
        yield Break("another graph", "get_config() of the model and of the clone differ")
    weights, its_weights = ([(weight.path, weight.shape) for weight in each.weights] for each in (model, clone))
    if weights != its_weights or len(model.variables) != len(clone.variables):
        yield Break("other weights", f"{weights} in the model, {its_weights} in the clone")
        return
    for one, other in zip(model.variables, clone.variables, strict=True):
        other.assign(one)  # the states of seeds, too, so that both drop the same
    batch = np.random.default_rng(0).integers(-2, 3, (2, 3, 2)).astype("float32")
    for mode in ("inference", "training"):
        expected = run(model, batch, mode == "training")
        try:
            found = run(clone, batch, mode == "training")
        except Exception as error:  # the model has run
            yield Break(f"raises in {mode}: {type(error).__name__}", str(error)[:100])
            return
        for (value, mask), (its_value, its_mask) in zip(expected, found, strict=True):
            if not np.array_equal(mask, its_mask):
                yield Break(f"another mask in {mode}", f"{mask} in the model, {its_mask} in the clone")
            if not np.array_equal(value, its_value, equal_nan=True):  # on one device, bit for bit
                yield Break(f"another output in {mode}", f"{value.ravel()[:3]}, and {its_value.ravel()[:3]}")


def properties(layer: Any) -> dict[str, Any]:
    """The plain values of a layer, as the config may not tell them all."""
    found = {"trainable": layer.trainable, "supports_masking": layer.supports_masking}
    plain = (bool, int, float, str, type(None))
    return found | {
        name: value for name, value in vars(layer).items() if name[0] != "_" and name != "name" and type(value) in plain
    }


def run(model: Any, batch: Any, training: bool) -> list[tuple[Any, Any]]:
    """Each output with its mask."""
    masks = [(each, getattr(each, "_keras_mask", None)) for each in model(batch, training=training)]
    return [(keras.ops.convert_to_numpy(each), None if mask is None else np.array(mask)) for each, mask in masks]


# 4. Reduce. clonediff cuts programs likewise (harness/search/reduce.py).


def reduce(program: Program, what: str) -> Program:
    """Leave out calls, and make those that stay plainer, as long as the same breaks."""
    smaller = next((each for each in _smaller(program) if (seen := look(each)) and seen[1].what == what), None)
    return program if smaller is None else reduce(smaller, what)


def _smaller(program: Program) -> Iterator[Program]:
    for place, each in enumerate(program):
        before, after = program[:place], program[place + 1 :]
        yield (*before, *after)
        one, other = each.on
        arguments = LAYERS[each.kind][: LAYERS[each.kind].index(each.arguments)]
        plainer = [
            *(replace(each, arguments=its) for its in arguments),
            *(replace(each, on=on) for on in ((0, 0), (one - 1, other), (one, other - 1)) if min(on) >= 0),
            replace(each, frozen=False, again=False),
        ]
        yield from ((*before, plain, *after) for plain in plainer if plain != each)


# 5. The search.


def search(graphs: int, seed_: int) -> dict[str, Program]:
    """Draw `graphs` programs: the first that shows each break, as small as it gets."""
    found: dict[str, Program] = {}

    @seed(seed_)
    @settings(max_examples=graphs, phases=[Phase.generate], database=None, deadline=None)
    @given(PROGRAMS)
    def each(program: Program) -> None:
        seen = look(program)
        if seen is not None:
            found.setdefault(seen[1].what, program)

    each()
    return {what: reduce(program, what) for what, program in found.items()}


def main() -> None:
    """Print the smallest script of each break."""
    parser = argparse.ArgumentParser(description="Find models that Keras does not clone, and print them.")
    parser.add_argument("graphs", type=int, nargs="?", default=60, help="how many models to draw [60]")
    parser.add_argument("--seed", type=int, default=0, help="the same seed draws the same models [0]")
    asked = parser.parse_args()
    gc.freeze()  # clear_session() collects garbage, for which Python need not look through all of a TensorFlow
    found = search(asked.graphs, asked.seed)
    for what, program in found.items():
        seen = look(program)
        if seen is not None:
            built, shown = seen
            print(f"# {what}\n#   {' '.join(shown.detail.split())}\n{built.source}")
            print("clone = keras.models.clone_model(model)\n\n")
    print(f"# Keras {keras.__version__}: {len(found)} breaks in {asked.graphs} models")


if __name__ == "__main__":
    main()
