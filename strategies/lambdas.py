"""Draws arguments of `Lambda`: functions, masks and output shapes in many forms."""

from __future__ import annotations

from typing import NamedTuple

from clonediff.strategies.build import arrange
from clonediff.strategies.choices import Choices
from clonediff.strategies.functions import FUNCTION_FORMS, REGISTRATION, write_function
from clonediff.strategies.program import Arguments, Arrangement

_OUTPUTS = (
    *(("x",), ("x", "x"), ("x * 2.0",), ("x", "x * 2.0"), ("x * 2.0", "x"), ("x", "x", "-x"), ("x[..., :1]", "x")),
    *(("x", "x * 2.0", "-x", "x + 1.0"), ("x[:, 0]",), ("x[:, 0]", "x")),
)
_OUTPUTS_OF_TWO = {
    "x": "x[0]",
    "x * 2.0": "x[1]",
    "-x": "x[0] + x[1]",
    "x + 1.0": "x[0] * 2.0",
    "x[:, 0]": "x[0] + x[1]",
}
"""The replacement of each output if the input is two tensors."""
_NEW_TENSORS = {"x": "x + 1.0", "x[0]": "x[0] * 2.0", "x[1]": "x[0] + x[1]"}
"""Replacements of outputs that are the input itself: a mask of the output would be a mask of the input."""
_SHAPES_BY_OUTPUT = {"x[..., :1]": "(*<0>.shape[1:-1], 1)", "x[:, 0]": "tuple(<0>.shape[2:])"}


class Form(NamedTuple):
    """A form of a function: the expression, its definition, and the factor that replaces 2.0."""

    value: str
    definition: str = ""
    factor: str = "2.0"


_FORMS = {
    "default": Form("lambda x, by=2.0: {result}", factor="by"),
    "arguments": Form("lambda x, by: {result}", factor="by"),
    "lambda of a global": Form("lambda x: {result}", factor="<FACTOR>"),
    "lambda of a layer": Form("lambda x: {result}", factor="<table>.embeddings[0, 0]"),
    "function of ops": Form("ops.gelu"),
    "function of Keras": Form("keras.activations.softplus"),
    "function of an application": Form("keras.applications.imagenet_utils.preprocess_input"),
    "training": Form("lambda x, training=None: {result}"),
    "mask": Form("lambda x, mask=None: {result}"),
    "namesake": Form(
        "<transform>",
        REGISTRATION.replace("()", '("other")')
        + "def <transform>(x):\n    return {other}\n\n\ndef <transform>(x):\n    return {result}\n",
    ),
}
"""Forms for `Lambda` only, besides `FUNCTION_FORMS`."""
_FORMS_WITHOUT_FACTOR = ("registered", "named", "lambda", "static", "traced", "training", "mask")
# Almost half are registered: for others, Keras 3 raises, which hides other bugs.
_FORM_CHOICES = (*("registered",) * 20, *FUNCTION_FORMS, *_FORMS)
_MASK_FORMS = ("", "pass", *("",) * 9, "some", "make", "fixed", "named", *("registered",) * 9)
_SHAPE_FORMS = ("", "", "given", "callable", *("",) * 4, *("registered",) * 3)
_CONTAINERS: tuple[Arrangement, ...] = ("list", "list", "tuple", "dict", "nested")


class LambdaSketch(NamedTuple):
    """A `Lambda` before its inputs are chosen."""

    outputs: tuple[str, ...]
    form: str
    mask: str
    shape: str
    container: Arrangement

    def arguments(self, count: int, rank: int) -> tuple[Arguments, Arguments]:
        """The arguments for tensors of this rank, and their definitions."""
        texts, form, container = list(self.outputs), self.form, self.container
        if count == 2:
            texts = [_OUTPUTS_OF_TWO.get(text, "x[0]") for text in texts]
            form = "lambda" if form == "mask" else form
        first = "x[0]" if count == 2 else "x"
        if form not in _FORMS_WITHOUT_FACTOR and not any("2.0" in text for text in texts):
            texts[0] = f"{first} * 2.0"
        if form == "training":
            texts[0] = f"{first} * 3.0 if training else {first}"
        if form == "mask":
            texts[0] = f"{first} if mask is None else {first} * 3.0"
        mask = "" if rank != 2 or any("x[:, 0]" in text for text in texts) else self.mask
        if mask:
            texts = [_NEW_TENSORS.get(text, text) for text in texts]
        container = "plain" if len(texts) == 1 and container != "list" else container
        function, definitions = self._function(form, arrange(texts, container, "out"))
        arguments = [("function", function)]
        if self.shape and container not in ("dict", "nested"):
            arguments.append(("output_shape", _output_shape(self.shape, texts, container, count, definitions)))
        if mask:
            arguments.append(("mask", _mask(mask, len(texts), container, count, definitions)))
        if form == "arguments":
            arguments.append(("arguments", '{"by": 2.0}'))
        return tuple(arguments), tuple(definitions.items())

    @staticmethod
    def _function(form: str, result: str) -> tuple[str, dict[str, str]]:
        if form not in _FORMS:
            return write_function(form, "transform", "x", result)
        template = _FORMS[form]
        results = {"result": result.replace("2.0", template.factor), "other": result.replace("2.0", "3.0")}
        definition = _fill(template.definition, results)
        return _fill(template.value, results), {"transform": definition} if definition else {}


def draw_lambda(choices: Choices) -> LambdaSketch:
    outputs, form, mask = choices.pick(_OUTPUTS), choices.pick(_FORM_CHOICES), choices.pick(_MASK_FORMS)
    return LambdaSketch(outputs, form, mask, choices.pick(_SHAPE_FORMS), choices.pick(_CONTAINERS))


def _fill(template: str, texts: dict[str, str]) -> str:
    for name, text in texts.items():
        template = template.replace(f"{{{name}}}", text)
    return template


def _mask(form: str, output_count: int, container: Arrangement, count: int, definitions: dict[str, str]) -> str:
    """The `mask` argument, with a mask for each output. Adds its definition."""
    mask = "mask" if count == 1 else "x[0][..., 0] > 0.0"
    if form == "make" and count == 1:
        mask = "x[..., 0] > 0.0"
    if form == "fixed":
        mask = "ops.convert_to_tensor(np.arange(2 * <0>.shape[1]).reshape(2, -1) % 3 != 2)"
    texts = ["None" if form == "some" and output_count > 1 else mask, *[mask] * (output_count - 1)]
    masks = arrange(texts, "plain" if container == "plain" else "list", "out")
    if form == "fixed":
        return masks
    if form not in ("named", "registered"):
        return f"lambda x, mask=None: {masks}"
    text = f"def <output_mask>(x, mask=None):\n    return {masks}\n"
    definitions["output_mask"] = text if form == "named" else REGISTRATION + text
    return "<output_mask>"


def _output_shape(form: str, texts: list[str], container: Arrangement, count: int, definitions: dict[str, str]) -> str:
    if form != "given" and count == 1 and not _SHAPES_BY_OUTPUT.keys() & set(texts):
        shapes = arrange(["s"] * len(texts), container, "out")
        if form == "callable":
            return f"lambda s: {shapes}"
        definitions["output_shape"] = REGISTRATION + f"def <output_shape>(s):\n    return {shapes}\n"
        return "<output_shape>"
    return arrange([_SHAPES_BY_OUTPUT.get(text, "tuple(<0>.shape[1:])") for text in texts], container, "out")
