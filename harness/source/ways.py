"""What `clone_model` is given beside the model, as a person would type it: functions, and what is plainly wrong."""

from __future__ import annotations

from collections.abc import Callable

from clonediff.harness.source.words import literal
from clonediff.strategies.graph import CallFunction, CloneFunction, Value, Wrong

CLONE_FUNCTION, CALL_FUNCTION, MODEL = "clone_function", "call_function", "model"
_REMADE = "layer.__class__.from_config(layer.get_config())"
AROUND = """\
class Around(keras.Model):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def call(self, inputs):
        return self.inner(inputs)
"""
"""A model of a class of one's own, of which no clone_function can be asked."""


def write_clone_function(function: CloneFunction, cls: Callable[[str], str], value: Callable[[Value], str]) -> str:
    """The definition. `cls` gives the expression of a kind's class, `value` that of a value."""
    lines = [f"def {CLONE_FUNCTION}(layer):", *_clone_lines(function, cls, value), ""]
    return "\n".join(lines)


def _clone_lines(function: CloneFunction, cls: Callable[[str], str], value: Callable[[Value], str]) -> list[str]:
    changes = {
        "renamed": 'config["name"] = f"{layer.name}_copy"',
        "set": f"config[{literal(function.key)}] = {value(function.value)}",
    }
    if function.change in changes:
        change = changes[function.change]
        remade = ["config = layer.get_config()", change, "return layer.__class__.from_config(config)"]
        if function.kind is None:
            return [f"    {line}" for line in remade]
        test = f"    if type(layer) is {cls(function.kind)}:"
        if function.others == "remade":
            return [
                "    config = layer.get_config()",
                test,
                f"        {change}",
                "    return layer.__class__.from_config(config)",
            ]
        return [test, *(f"        {line}" for line in remade), "    return layer"]
    given = {
        "remade": _REMADE,
        "kept": "layer",
        "replaced": 'layers.Activation("tanh", name=layer.name)',
        "wrapped": f"layers.TimeDistributed({_REMADE}, name=layer.name)",
        "nested": f"keras.Sequential([{_REMADE}], name=layer.name)",
        "dense": f"layers.Dense({value(function.value)}, name=layer.name)",
        "recurrent": f"layers.SimpleRNN({value(function.value)}, return_sequences=True, name=layer.name)",
        "model": "keras.Model(inputs, outputs, name=layer.name)",
    }
    if function.change == "raises" and function.kind is not None:
        return [
            f"    if type(layer) is {cls(function.kind)}:",
            '        raise RuntimeError(f"no clone of {layer.name}")',
            f"    return {given[function.others]}",
        ]
    if function.change == "model" and function.kind is not None:
        return [
            f"    if type(layer) is {cls(function.kind)}:",
            '        inputs = keras.Input(layer.input.shape[1:], name=f"{layer.name}_input")',
            f"        outputs = {_REMADE}(inputs)",
            f"        return {given[function.change]}",
            f"    return {given[function.others]}",
        ]
    if function.kind is None:
        return [f"    return {given[function.change]}"]
    return [
        f"    if type(layer) is {cls(function.kind)}:",
        f"        return {given[function.change]}",
        f"    return {given[function.others]}",
    ]


def write_call_function(function: CallFunction, cls: Callable[[str], str]) -> str:
    """The definition."""
    lines = [f"def {CALL_FUNCTION}(layer, *args, **kwargs):"]
    if function.kind is None:
        return "\n".join((*lines, "    return layer(*args, **kwargs)", ""))
    test = f"    if type(layer) is {cls(function.kind)}:"
    inserted = f'layers.Activation("tanh", name=f"{function.change}_{{layer.name}}")'
    if function.change == "after":
        lines += [
            "    outputs = layer(*args, **kwargs)",
            test,
            f"        outputs = {inserted}(outputs)",
            "    return outputs",
        ]
    elif function.change == "before":
        lines += [test, f"        args = ({inserted}(args[0]),)", "    return layer(*args, **kwargs)"]
    else:
        lines += [test, '        kwargs["training"] = True', "    return layer(*args, **kwargs)"]
    return "\n".join((*lines, ""))


def wrong_argument(wrong: Wrong, inputs: list[str], tensor: str) -> tuple[str, str]:
    """The argument that is plainly wrong, and its expression. `inputs` has those of fresh inputs; `tensor` is none."""
    return {
        "function": (CLONE_FUNCTION, "3"),
        "nothing": (CLONE_FUNCTION, "lambda layer: None"),
        "call": (CALL_FUNCTION, "3"),
        "text": ("input_tensors", '"inputs"'),
        "numbers": ("input_tensors", tensor),
        "more": ("input_tensors", f"[{', '.join((*inputs, inputs[-1]))}]"),
        "no model": (MODEL, "None"),
        "models": (MODEL, "[model]"),
    }[wrong]
