"""What is done to a model before it is cloned, as a person would type it."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import structs

from harness.source.words import dotted
from strategies.graph import Layer, Seq, Step, Value
from strategies.states import LEARNED

_WIDEST = 100


def write_step(
    step: Step, target: str, value: Callable[[Value], str], arrays: Callable[[], str], tensor: str
) -> list[str]:
    """The lines of a step on what the expression `target` gives.

    `value` gives the text of an argument, `arrays` of what the model can be run on; `tensor` is what it was called on.
    """
    args = {dotted(name): value(each) for name, each in step.args}
    if step.does == "stateful":
        return _called("model", {"": arrays()})
    if step.does == "run":
        return _called(target, {"": arrays(), **args})
    if step.does in _SCOPES:
        return []
    if step.does == "train":
        # Eagerly: to trace a function for a single step takes longer than the step.
        return [
            f"data = {arrays()}",
            *_called(f"{target}.compile", {**args, "run_eagerly": "True"}),
            f"{target}.train_on_batch(data, {target}.predict_on_batch(data))",
        ]
    if step.does == "load":
        return [
            "with tempfile.TemporaryDirectory() as folder:",
            f'    {target}.save(folder + "/model.keras")',
            f'    {target} = keras.models.load_model(folder + "/model.keras")',
        ]
    if step.does == "call":
        return [f"{target}({tensor})"]
    return _LINES[step.does](target, args)


def built_within(step: Step, lines: list[str], value: Callable[[Value], str]) -> list[str]:
    """The lines that build a model, within what a step says."""
    scope = _SCOPES.get(step.does)
    if scope is None:
        return lines
    return [scope.format(**{name: value(each) for name, each in step.args}), *(f"    {line}" for line in lines)]


_SCOPES = {"name scope": "with keras.name_scope({name}):", "remat": "with keras.RematScope(mode={mode}):"}


def as_it_learns(layer: Layer) -> Layer:
    """A layer without what it learns later."""
    learned = LEARNED[layer.kind]
    args = tuple((key, value) for key, value in layer.args if key not in learned)
    bounds = layer.arg("bin_boundaries")
    if isinstance(bounds, Seq):
        args = (("num_bins", len(bounds.items) + 1), *args)
    return structs.replace(layer, args=args)


def _called(name: str, args: dict[str, str]) -> list[str]:
    """A call, on several lines where one is too long."""
    words = [f"{key}={text}" if key else text for key, text in args.items()]
    line = f"{name}({', '.join(words)})"
    return [line] if len(line) <= _WIDEST else [f"{name}(", *(f"    {word}," for word in words), ")"]


def _set(target: str, args: dict[str, str]) -> list[str]:
    return [f"{target}.{name} = {text}" for name, text in args.items()]


_LINES: dict[str, Callable[[str, dict[str, str]], list[str]]] = {
    "compile": lambda target, args: _called(f"{target}.compile", args),
    "trainable": lambda target, args: _set(target, args),
    "weight trainable": lambda target, args: _set(target, args),
    "set": lambda target, args: _set(target, args),
    "adapt": lambda target, args: [
        f"{target}.adapt({args['data'] if args['data'].startswith('np.') else 'np.array(' + args['data'] + ')'})"
    ],
    "add_loss": lambda target, args: [f"{target}.add_loss(tf.reduce_mean({target}.outputs[0]))"],
    "add_metric": lambda target, args: [f'{target}.add_metric(tf.reduce_mean({target}.outputs[0]), name="mean")'],
    "policy": lambda target, args: [f"keras.config.set_dtype_policy({args['name']})"],
    "lora": lambda target, args: _called(f"{target}.enable_lora", args),
    "quantize": lambda target, args: _called(f"{target}.quantize", {"": args["mode"]}),
}
