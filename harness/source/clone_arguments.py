"""What `clone_model` is given beside the model, as a person would type it: functions, and what is plainly wrong."""

from __future__ import annotations

from collections.abc import Callable

from clonediff.harness.source.words import literal
from clonediff.strategies.graph import CallFunction, CloneFunction, Value, Wrong

CLONE_FUNCTION, CALL_FUNCTION, MODEL, CLONE_MODEL = "clone_function", "call_function", "model", "clone_model"
_REMADE = "layer.__class__.from_config(layer.get_config())"
AROUND = """\
class Around(keras.Model):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def call(self, inputs):
        return self.inner(inputs)
"""
"""A model of a custom class, of which no clone_function can be asked."""


def write_clone_function(function: CloneFunction, cls: Callable[[str], str], value: Callable[[Value], str]) -> str:
    """The definition. `cls` gives the expression of a kind's class, `value` that of a value."""
    text = value(function.value)  # once: the text of a function has a name that is then taken
    others = _REMADE if function.others == "remade" else "layer"
    change = {
        "remade": [f"return {_REMADE}"],
        "kept": ["return layer"],
        "renamed": ['config["name"] = f"{layer.name}_copy"'],
        "set": [f"config[{literal(function.key)}] = {text}"],
        "channels first": [
            'if "data_format" in config:',
            '    config["data_format"] = "channels_first"',
            'if "axis" in config:',
            '    config["axis"] = 1',
        ],
        "unwrapped": [f"return {others.replace('layer', 'layer.layer')}"],
        "replaced": ['return layers.Activation("tanh", name=layer.name)'],
        "wrapped": [f"return layers.TimeDistributed({_REMADE}, name=layer.name)"],
        "nested": [f"return keras.Sequential([{_REMADE}], name=layer.name)"],
        "dense": [f"return layers.Dense({text}, name=layer.name)"],
        "recurrent": [f"return layers.SimpleRNN({text}, return_sequences=True, name=layer.name)"],
        "raises": ['raise RuntimeError(f"no clone of {layer.name}")'],
        "model": [
            'inputs = keras.Input(layer.input.shape[1:], name=f"{layer.name}_input")',
            f"outputs = {_REMADE}(inputs)",
            "return keras.Model(inputs, outputs, name=layer.name)",
        ],
    }[function.change]
    before, after = ["config = layer.get_config()"], ["return layer.__class__.from_config(config)"]
    changes_config = function.change in ("renamed", "set", "channels first")
    if function.kind is None:
        lines = [*before, *change, *after] if changes_config else change
    else:
        test = f"if type(layer) is {cls(function.kind)}:"
        if changes_config and function.others == "remade":
            lines = [*before, test, *_within(change), *after]
        else:
            whole = [*before, *change, *after] if changes_config else change
            lines = [test, *_within(whole), f"return {others}"]
    if function.recurses:
        again = f"return {CLONE_MODEL}(layer, {CLONE_FUNCTION}={CLONE_FUNCTION})"
        lines = ["if isinstance(layer, keras.Model):", *_within([again]), *lines]
    return "\n".join((f"def {CLONE_FUNCTION}(layer):", *_within(lines), ""))


def _within(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


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
