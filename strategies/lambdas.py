"""What a `Lambda` wraps: a function in one of many forms, with one output or several, and a mask or none."""

from __future__ import annotations

from typing import NamedTuple

from clonediff.strategies.choices import Choices
from clonediff.strategies.functions import REGISTERED, WRITTEN, written
from clonediff.strategies.program import Arguments

_GIVES = (
    *(("x",), ("x", "x"), ("x * 2.0",), ("x", "x * 2.0"), ("x * 2.0", "x"), ("x", "x", "-x"), ("x[..., :1]", "x")),
    *(("x", "x * 2.0", "-x", "x + 1.0"), ("x[:, 0]",), ("x[:, 0]", "x")),
)
_PAIRED = {"x": "x[0]", "x * 2.0": "x[1]", "-x": "x[0] + x[1]", "x + 1.0": "x[0] * 2.0", "x[:, 0]": "x[0] + x[1]"}
"""The same for a list of two tensors."""
_FRESH = {"x": "x + 1.0", "x[0]": "x[0] * 2.0", "x[1]": "x[0] + x[1]"}
"""In the place of a tensor that is given back as it is, whose mask would be one on the input."""
_SHAPES = {"x[..., :1]": "(*<0>.shape[1:-1], 1)", "x[:, 0]": "tuple(<0>.shape[2:])"}


class Form(NamedTuple):
    """How a function is written: the value, its definition, and the word for the number 2.0."""

    value: str
    definition: str = ""
    by: str = "2.0"


_FORMS = {
    "default": Form("lambda x, by=2.0: {gives}", by="by"),
    "arguments": Form("lambda x, by: {gives}", by="by"),
    "lambda of a global": Form("lambda x: {gives}", by="<FACTOR>"),
    "lambda of a layer": Form("lambda x: {gives}", by="<table>.embeddings[0, 0]"),
    "of ops": Form("ops.gelu"),
    "of Keras": Form("keras.activations.softplus"),
    "of an application": Form("keras.applications.imagenet_utils.preprocess_input"),
    "training": Form("lambda x, training=None: {gives}"),
    "mask": Form("lambda x, mask=None: {gives}"),
    "namesake": Form(
        "<transform>",
        REGISTERED.replace("()", '("other")')
        + "def <transform>(x):\n    return {other}\n\n\ndef <transform>(x):\n    return {gives}\n",
    ),
}
"""How a `Lambda` alone is written; the others are those of every function."""
_NO_NUMBER = ("registered", "named", "lambda", "static", "traced", "training", "mask")
# A registered function is all that Keras 3 reads back: what it refuses hides what else breaks.
_CHOICES = (*("registered",) * 20, *WRITTEN, *_FORMS)
_MASKS = ("", "pass", *("",) * 9, "some", "make", "fixed", "named", *("registered",) * 9)
_OUTPUT_SHAPES = ("", "", "given", "callable", *("",) * 4, *("registered",) * 3)


class LambdaSketch(NamedTuple):
    """What is drawn of a `Lambda`: what its function gives, in which form and container; its mask and output shape."""

    gives: tuple[str, ...]
    form: str
    mask: str
    shape: str
    container: str

    def arguments(self, count: int, rank: int) -> tuple[Arguments, Arguments]:
        """The arguments on `count` tensors, of which the first has this rank, and the definitions that they need."""
        texts, form, container = list(self.gives), self.form, self.container
        if count == 2:
            texts = [_PAIRED.get(text, "x[0]") for text in texts]
            form = "lambda" if form == "mask" else form
        first = "x[0]" if count == 2 else "x"
        if form not in _NO_NUMBER and not any("2.0" in text for text in texts):
            texts[0] = f"{first} * 2.0"
        if form == "training":
            texts[0] = f"{first} * 3.0 if training else {first}"
        if form == "mask":
            texts[0] = f"{first} if mask is None else {first} * 3.0"
        mask = "" if rank != 2 or any("x[:, 0]" in text for text in texts) else self.mask
        if mask:
            texts = [_FRESH.get(text, text) for text in texts]
        container = "one" if len(texts) == 1 and container != "list" else container
        gives = _packed(texts, container)
        function, definitions = self._function(form, gives)
        arguments = [("function", function)]
        if self.shape and container not in ("dict", "nested"):
            arguments.append(("output_shape", _output_shape(self.shape, texts, container, count, definitions)))
        if mask:
            arguments.append(("mask", _mask(mask, len(texts), container, count, definitions)))
        if form == "arguments":
            arguments.append(("arguments", '{"by": 2.0}'))
        return tuple(arguments), tuple(definitions.items())

    @staticmethod
    def _function(form: str, gives: str) -> tuple[str, dict[str, str]]:
        if form not in _FORMS:
            return written(form, "transform", "x", gives)
        chosen = _FORMS[form]
        words = {"gives": gives.replace("2.0", chosen.by), "other": gives.replace("2.0", "3.0")}
        definition = _filled(chosen.definition, words)
        return _filled(chosen.value, words), {"transform": definition} if definition else {}


def lambda_sketch(choices: Choices) -> LambdaSketch:
    """What a `Lambda` wraps, before it is known on what it is called."""
    gives, form, mask = choices.pick(_GIVES), choices.pick(_CHOICES), choices.pick(_MASKS)
    shape, container = choices.pick(_OUTPUT_SHAPES), choices.pick(("list", "list", "tuple", "dict", "nested"))
    return LambdaSketch(gives, form, mask, shape, container)


def _filled(text: str, words: dict[str, str]) -> str:
    for name, word in words.items():
        text = text.replace(f"{{{name}}}", word)
    return text


def _packed(texts: list[str], container: str) -> str:
    listed = ", ".join(texts)
    match container:
        case "one":
            return texts[0]
        case "tuple":
            return f"({listed})"
        case "dict":
            return "{" + ", ".join(f'"{key}": {text}' for key, text in zip("abcd", texts, strict=False)) + "}"
        case "nested" if len(texts) > 1:
            return f"[{texts[0]}, [{', '.join(texts[1:])}]]"
    return f"[{listed}]"


def _mask(how: str, outputs: int, container: str, count: int, definitions: dict[str, str]) -> str:
    """A mask for each output."""
    if how == "fixed":
        fixed = "ops.convert_to_tensor(np.arange(2 * <0>.shape[1]).reshape(2, -1) % 3 != 2)"
        return fixed if container == "one" else f"[{', '.join([fixed] * outputs)}]"
    computed = "x[0][..., 0] > 0.0" if count == 2 else "x[..., 0] > 0.0"
    texts = [computed if how == "make" or count == 2 else "mask"] * outputs
    if how == "some" and outputs > 1:
        texts[0] = "None"
    gives = _packed(texts, "one" if container == "one" else "list")
    if how not in ("named", "registered"):
        return f"lambda x, mask=None: {gives}"
    text = f"def <output_mask>(x, mask=None):\n    return {gives}\n"
    definitions["output_mask"] = text if how == "named" else REGISTERED + text
    return "<output_mask>"


def _output_shape(how: str, texts: list[str], container: str, count: int, definitions: dict[str, str]) -> str:
    if how != "given" and count == 1 and not _SHAPES.keys() & set(texts):
        gives = _packed(["s"] * len(texts), container)
        if how == "callable":
            return f"lambda s: {gives}"
        definitions["output_shape"] = REGISTERED + f"def <output_shape>(s):\n    return {gives}\n"
        return "<output_shape>"
    return _packed([_SHAPES.get(text, "tuple(<0>.shape[1:])") for text in texts], container)
