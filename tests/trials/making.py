"""Observations made by hand: a small model as a subject would describe it, its clone, and changes to either."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from clonediff.harness.subjects.observation import (
    CallSeen,
    Clone,
    End,
    LayerSeen,
    Leaf,
    ModelRun,
    Observation,
    Shape,
    StepSeen,
    Trained,
    Variable,
)

T = TypeVar("T")
GONE = object()

MASKED = {"Masking", "Embedding"}
WEIGHTED = {"Dense", "LSTM", "Embedding", "BatchNormalization"}


def chain(*kinds: str, masks: bool = True) -> Observation:
    """An input, then a layer of each kind on what the one before gave. The model's output is the last one's."""
    names = ["input", *(f"{kind.lower()}_{number}" for number, kind in enumerate(kinds, 1))]
    layers = [layer("input", "InputLayer", 0)]
    for number, kind in enumerate(kinds, 1):
        layers.append(layer(names[number], kind, number, gives([number - 1, 0, 0])))
    return observed(layers, outputs=[len(kinds)], masks=masks)


def gives(*tensors: list[int], kwargs: dict[str, Any] | None = None) -> CallSeen:
    """A call on tensors."""
    return CallSeen([{"tensor": tensor} for tensor in tensors], kwargs or {}, 1, (False,))


def layer(name: str, kind: str, ident: int, *calls: CallSeen, inside: int = -1, role: str = "layers") -> LayerSeen:
    """A layer with a config of its own."""
    seen = calls or (CallSeen([], {}, 1, (False,)),)
    return LayerSeen(name, kind, ident, inside, role, {"units": "3", "mask": "None", "trainable": "True"}, True, seen)


def observed(layers: list[LayerSeen], outputs: list[int], masks: bool = True) -> Observation:
    """A model of these layers, run and trained. Each call gives one tensor; Masking and Embedding give masks."""
    steps, weights = [], []
    masked = False
    for index, each in enumerate(layers):
        masked = masks and (masked or each.kind in MASKED)
        first = next(number for number, other in enumerate(layers) if other.ident == each.ident)
        for _ in each.calls:
            use = sum(step.layer == first for step in steps)
            mask = f"mask {each.name}" if masked else None
            steps.append(StepSeen(first, use, (Leaf((2, 3), "float32", f"value {each.name}.{use}", mask),)))
        if each.kind in WEIGHTED and first == index:
            for word in ("kernel", "bias"):
                weights.append(Variable(word, index, (3, 3), "float32", True, 100 + len(weights), ""))
    states = (Variable("seed", 0, (2,), "uint32", False, 500, "seed value"),)
    ends = tuple(next(step for step in reversed(steps) if step.layer == index).outputs[0] for index in outputs)
    shape = Shape(
        kind="Functional",
        name="model",
        trainable=True,
        input_structure=0,
        output_structure=list(range(len(outputs))),
        inputs=(End("input", (None, 3), "float32", (0, 0, 0)),),
        outputs=tuple(End(layers[index].name, (None, 3), "float32", (index, 0, 0)) for index in outputs),
        layers=tuple(layers),
        weights=tuple(weights),
        states=states,
        compiled={"optimizer": "Adam", "optimizer.Adam.epsilon": "1e-07", "metrics[0]": "'mae'"},
        compiled_with=(900,),
    )
    run = ModelRun(structure=list(range(len(outputs))), outputs=ends, steps=tuple(steps), losses=("loss 0", "loss 1"))
    trained = tuple(Leaf((3, 3), "float32", f"after {number}") for number in range(len(weights)))
    return Observation(
        shape=shape,
        inference=run,
        training=run,
        copied_weights=tuple(f"copied {number}" for number in range(len(weights))),
        fresh=tuple(True for _ in weights),
        trained=Trained(
            "loss", tuple(Leaf((3, 3), "float32", f"gradient {number}") for number in range(len(weights))), trained
        ),
    )


def faithful(original: Observation) -> Clone:
    """A clone with nothing wrong: the same, of other objects; made again, and cloned once more."""
    first, second, third = (renumbered(original, base) for base in (1000, 2000, 3000))
    return Clone(
        observation=first,
        again=msgspec.structs.replace(second, trained=None),
        twice=msgspec.structs.replace(third, trained=None),
    )


def renumbered(observation: Observation, base: int) -> Observation:
    """The same observation of other objects."""
    plain = msgspec.to_builtins(observation)
    for things in (plain["shape"]["layers"], plain["shape"]["weights"], plain["shape"]["states"]):
        for thing in things:
            thing["ident"] += base
    plain["shape"]["compiled_with"] = [each + base for each in plain["shape"]["compiled_with"]]
    return msgspec.convert(plain, Observation)


def altered(record: T, *changes: tuple[str, Any]) -> T:
    """The record with the fields at dotted paths set to other values; `GONE` takes an item out."""
    plain = msgspec.json.decode(msgspec.json.encode(record))
    for path, value in changes:
        *way, last = (int(part) if part.isdigit() else part for part in path.split("."))
        holder = plain
        for part in way:
            holder = holder[part]
        if value is GONE:
            del holder[last]
        else:
            holder[last] = msgspec.json.decode(msgspec.json.encode(value))
    return msgspec.convert(plain, type(record))
