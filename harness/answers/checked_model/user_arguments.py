"""What `clone_model` is given beside a model of somebody's own: named, typed out, or made by a function of theirs.

What arguments with a name ask for is known: a model like the one that is cloned. What somebody's own arguments ask for
is not: then only what `clone_model` says of them can be checked, and the text says so.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path

import msgspec

from clonediff.harness.answers.checked_model.models import ModelError, function_in, imported
from clonediff.harness.source import DIALECTS
from clonediff.harness.subjects.subject import Subject

ARGUMENTS = ("input_tensors", "clone_function", "call_function", "recursive")

_INPUT = "each._keras_history[0].__class__.from_config(each._keras_history[0].get_config()).output"
NAMED = {
    "new-inputs": ("input_tensors", f"[{_INPUT} for each in model.inputs]"),
    "remade": ("clone_function", "lambda layer: layer.__class__.from_config(layer.get_config())"),
    "plain-calls": ("call_function", "lambda layer, *args, **kwargs: layer(*args, **kwargs)"),
    "recursive": ("recursive", "True"),
}
"""By name, what asks for a model like the one that is cloned: the argument, and what it is given."""
_NESTED_INPUTS = (
    f"keras.tree.map_structure(lambda each: {_INPUT}, "
    "model.inputs if isinstance(model, keras.Sequential) else model.input)"
)
"""The new inputs, where a model may take a dict of them."""

LIKE_THE_MODEL = "held against the model itself: these arguments ask for one that is like it"
OF_ONE_S_OWN = (
    "nobody knows which model your arguments ask for; checked is what clone_model says of them: that it makes a clone, "
    "and leaves the model as it was; that a clone_function is asked once for each layer, never for an input, that what "
    "it gives is in the clone, and that what it raises arrives; and, where that can be told, that the clone computes "
    "what the model's own graph does with these layers and inputs"
)


class UserArguments(msgspec.Struct, frozen=True):
    """What `--way` asks for: by its name, as an expression for an argument, or by a function that gives all of them."""

    words: tuple[str, ...]
    named: tuple[str, ...] = ()
    typed: tuple[tuple[str, str], ...] = ()
    file: str = ""
    function: str = ""

    @property
    def like_the_model(self) -> bool:
        """Whether a model like the one that is cloned is asked for."""
        return not self.typed and not self.function

    @property
    def by_config(self) -> bool:
        """Whether layers are made of their configs, so that what no config has is not asked for."""
        return "remade" in self.named

    def lines(self) -> list[str]:
        """The lines before the model that import the function."""
        return imported(Path(self.file), "way") if self.file else []

    def on(self, subject: Subject) -> dict[str, str]:
        """The expressions of what `clone_model` is given, by name."""
        given = dict(NAMED[name] for name in self.named)
        if "input_tensors" in given and DIALECTS[subject.dialect].nests:
            given["input_tensors"] = _NESTED_INPUTS
        given.update(self.typed)
        return {**given, **({"**": f"way.{self.function}(model)"} if self.function else {})}


def user_arguments(words: Sequence[str]) -> UserArguments | None:
    """All of `--way` together, None where there is none. Raises `ModelError` where one cannot be tried."""
    named: list[str] = []
    typed: dict[str, str] = {}
    file = function = ""
    for word in dict.fromkeys(words):
        argument, equals, text = word.partition("=")
        if word in NAMED:
            named.append(word)
            argument = NAMED[word][0]
        elif equals and argument in ARGUMENTS:
            typed[argument] = _expression(text, word)
        else:
            found = function_in(word, f"--way {word}")
            if found is None or function:
                raise ModelError(
                    f"--way {word}: expected {', '.join(NAMED)}, ARGUMENT=EXPRESSION (such as "
                    "'input_tensors=keras.Input((32, 32, 3))'), or one FILE.py:FUNCTION that takes the model and gives "
                    f"a dict of {', '.join(ARGUMENTS)}"
                )
            file, function = found
            continue
        if [*typed, *(NAMED[each][0] for each in named)].count(argument) > 1:
            raise ModelError(f"--way {word}: {argument} is given twice")
    if not words:
        return None
    return UserArguments(tuple(words), tuple(named), tuple(typed.items()), file, function)


def _expression(text: str, word: str) -> str:
    try:
        ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError):
        raise ModelError(f"--way {word}: {text!r} is no expression of Python") from None
    return text.strip()
