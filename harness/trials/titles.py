"""Writes titles of causes for readers who know Keras, not clonediff.

A title has no name of a layer, number or message: a cause has the same title in every run.
"""

from __future__ import annotations

import re

from clonediff.harness.trials.checks import aspect_of
from clonediff.reports.records import Difference
from clonediff.strategies.layers import CATALOGUE

_KIND_WORDS = {"": "layer", "Functional": "functional model", "InputLayer": "input layer"}
_MODEL_KINDS = ("", "model", "Functional")
"""Kinds of models. A title leaves them out, since any layer is in a model."""
_FORMS = {
    "[": ("list", "a list"),
    '{"tuple"': ("tuple", "a tuple"),
    '{"dict"': ("dict", "a dict"),
    '{"tensor"': ("tensor", "a tensor"),
    '{"outside"': ("value", "a tensor"),
    '{"array"': ("array", "an array"),
    '{"constant"': ("array", "a constant"),
    '{"variable"': ("value", "a variable"),
}
"""The words for an argument in fingerprints and titles, by the start of its skeleton."""
_KINDS_BY_FILE = {name.rpartition(".")[2].lower(): name for name in CATALOGUE if "." not in name}


def sentence(root: Difference, kind: str, layer: str | None = None) -> str:
    """A cause's title, by its root and kind; a `layer` replaces the kind."""
    clone = "a second clone" if root.check == "again" else "the clone"
    changes_original = root.check == "untouched"
    word = f"layer in {_a_or_an(kind.removeprefix('in '))}" if kind.startswith("in ") else _KIND_WORDS.get(kind, kind)
    form, found_form = _title_form(root.expected), _title_form(root.found)
    is_true = root.expected.lower() == "true"
    name = root.argument
    text = aspect_of(root).sentence.format(
        a=layer or (_a_or_an(word) if layer is None else "the model"),
        kind=layer or (word if layer is None else "model"),
        at=""
        if layer is not None or kind in _MODEL_KINDS
        else f": first at {word if kind in CATALOGUE else _a_or_an(word)}",
        refused=layer or _refused_object(root, kind),
        clone="it" if changes_original else clone,
        inside="" if changes_original else f" in {clone}",
        training=" in training mode" if root.model == "clone" and root.run == "training" else "",
        form=form,
        found_form=found_form if found_form != form else "of another type",
        frozen="trainable" if is_true else "frozen",
        thawed="frozen" if is_true else "trainable",
        was="" if is_true else "not ",
        now="not " if is_true else "",
        how="lost" if root.found.lower() in ("null", "none", "nothing") else "different",
        name="a compile argument" if root.name.startswith("_compile_config") else root.name,
        argument=f"the {name}" if name else "an argument",
        an_argument=_a_or_an(name) if name else "one more",
        part=root.part,
        change=root.change,
    )
    raised = _text_of_exception(root) if layer is None else ""
    text = f"{'cloning changes the original: ' if changes_original else ''}{text}{raised}"
    return text[:1].upper() + text[1:]


def _refused_object(root: Difference, kind: str) -> str:
    frame = root.raised.frame.rpartition(":")[0] if root.raised else ""
    stem = frame.rpartition("/")[2].removesuffix(".py").removesuffix("_layer").replace("_", "")
    if stem in _KINDS_BY_FILE and "/layers/" in frame:
        return _a_or_an(_KINDS_BY_FILE[stem])
    return "a model" if kind in _MODEL_KINDS else f"a model with {_a_or_an(_KIND_WORDS.get(kind, kind))}"


def _text_of_exception(root: Difference) -> str:
    if root.raised is None:
        return ""
    file, _, function = root.raised.frame.rpartition(":")
    kind = "" if root.raised.type in ("timed out", "out of memory") else f" {root.raised.type}"
    text = f"{kind} in {file.rpartition('/')[2]}:{function}" if file else kind
    return f":{text}" if text else ""


def form_of(text: str) -> tuple[str, str]:
    """Words for an argument's skeleton, in a fingerprint and a title."""
    return next((form for start, form in _FORMS.items() if text.startswith(start)), ("value", "a plain value"))


def _title_form(text: str) -> str:
    form = form_of(text)[1]
    return f"{form} of its own class" if re.search(r', "type": "[^"]*"}$', text) else form


def _a_or_an(word: str) -> str:
    is_spelled_out = word[:1] in "FHLMNRSX" and word[1:2].isupper()
    return f"an {word}" if word[:1] in "AEIOaeio" or is_spelled_out else f"a {word}"
