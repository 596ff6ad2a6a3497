"""A script of plain Keras that shows a difference: the model, the clone, and the comparison that fails.

Nothing of ours is in the script: it is for pasting into a bug report.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass
from keyword import iskeyword
from textwrap import indent
from typing import TYPE_CHECKING

from msgspec.structs import replace

from clonediff.harness.inside.cloners.users import UsersCloner, users_cloner
from clonediff.harness.scripts import running
from clonediff.harness.scripts.comments import comment, named
from clonediff.harness.scripts.comparisons import WHOLE_CONFIG, Comparison, comparison
from clonediff.harness.source.clone_arguments import MODEL
from clonediff.harness.source.words import literal
from clonediff.reports.records import Difference

if TYPE_CHECKING:
    from clonediff.harness.subjects.case import Case

_CLONES = {
    "upstream": "clone = keras.models.clone_model(model{})",
    "fixed": "from clonediff import clone_model\n\nclone = clone_model(model{})",
    "roundtrip": "clone = type(model).from_config(model.get_config())",
    "deepcopy": "import copy\n\nclone = copy.deepcopy(model)",
}
_CONFIG_BUT_FOR_INPUTS = (
    "",
    "import json",
    "",
    "",
    "def config(model):",
    "    # Inputs without a name of their own have another one in the clone: that is no part of this.",
    "    text = json.dumps(model.get_config(), sort_keys=True, default=str)",
    "    for number, each in enumerate(model.inputs):",
    "        text = text.replace(f'\"{each._keras_history.operation.name}\"', f'\"input {number}\"')",
    "    return text",
    "",
    "",
    "assert config(clone) == config(model)",
)
"""All of it: too long to be told where it differs."""
_NOTED = "clone_function=lambda layer: asked.append(layer) or "
_ASKED = "# The model that is asked for, made by hand."
_OF_THE_MODEL = ("made", "untouched", "own", "functions")
"""Checks of the model that is cloned, whatever it is cloned to."""
_IN_CLONING = ("made", "warned")
"""Checks of what happens while a clone is made: the line that makes it is the one that fails."""
_NUMBERS = r"0x[0-9a-fA-F]*|_?\d+"
"""What says nothing in a warning: addresses, and the numbers of names."""
_COUNT_ANEW = {"keras": "keras.utils.clear_session()", "tf_keras": "keras.backend.reset_uids()"}
_SHORT = 60


@dataclass(frozen=True, slots=True)
class Script:
    """`raises` is the type of the exception that the script has to end in; "" where it shows the models only.

    `sure` says that the script makes the very comparison that differed, whatever the numbers that it runs on, so that
    it is wrong if it does not fail. `with_clonediff`: a user's own cloner is imported, which may be made of it.
    """

    text: str
    raises: str = ""
    sure: bool = False
    with_clonediff: bool = False


def reproducer(
    source: str, dialect: str, difference: Difference, cloner: str = "upstream", case: Case | None = None
) -> Script:
    """The script for a difference that a cloner made, with what was expected and found as its last comment.

    With the `case`, models that have to be called are called on its inputs, with its weights.
    """
    said = [comment(f"# {difference.check}: {difference.path}")]
    numbers = difference.numbers
    if numbers is not None:
        at = f" {numbers.at}" if numbers.at else ""
        said += [f"#   original: {comment(numbers.expected)}{at}", f"#   clone:    {comment(numbers.found)}{at}"]
        said += [f"#   {numbers.said}"]
    elif difference.check not in _IN_CLONING:
        said += [f"#   original: {comment(difference.expected)}", f"#   clone:    {comment(difference.found)}"]
    else:
        said += [f"#   {comment(difference.found)}"]
    clones = _CLONES
    users = users_cloner(cloner)
    if users is not None:
        clones = {cloner: f"{_imported(users)}\n\n{_called(users)}"}
    if cloner not in clones:
        said.insert(0, comment(f"# The cloner {cloner} is not to be had outside clonediff; this is the model."))
        return Script("\n".join((source.rstrip("\n"), "", *said, "")))
    before, lines, sure = _comparison(difference, dialect, case)
    if case is not None and case.asked and difference.check not in _OF_THE_MODEL:
        anew = _names_anew(difference, dialect, lines)
        before = [*before, *anew]
        lines = ["", _ASKED, *anew, case.asked.rstrip("\n"), *lines]
    before = ["", *before] if before else []
    what = case.arguments.get(MODEL, MODEL) if case is not None else MODEL
    imports, _, clone = clones[cloner].rpartition("\n\n")
    clone = clone.replace("(model{}", f"({what}{{}}").replace("{}", _arguments(case))
    if case is not None and case.within:
        clone = re.sub("^clone = ", f"with {', '.join(case.within)}:\n    clone = ", clone, flags=re.MULTILINE)
    if difference.check == "warned":
        heard = 'with warnings.catch_warnings(record=True) as heard:\n    warnings.simplefilter("always")'
        clone = f"{heard}\n{indent(clone, '    ')}"
    if difference.check == "functions" and before:
        clone = clone.replace("clone_function=clone_function", f"{_NOTED}clone_function(layer)")
    if difference.aspect == "value not kept":
        before = ["", "import numpy as np", "", *running.weighted(case)]
    cloning = [imports, "", clone] if imports else [clone]
    text = "\n".join((source.rstrip("\n"), *before, "", *cloning, *lines, "", *said, ""))
    compares = lines or difference.check == "made"
    return Script(text, ending_of(difference) if compares else "", sure, with_clonediff=users is not None)


def ending_of(difference: Difference) -> str:
    """The type of the exception in which the script for a difference has to end."""
    warns = difference.check == "warned"
    return "AssertionError" if difference.raised is None or warns else difference.raised.type


def with_versions(script: Script, versions: Mapping[str, str]) -> Script:
    """The script with the versions that it was seen on, last."""
    return dataclasses.replace(script, text=f"{script.text}{named(versions)}\n") if versions else script


def _imported(cloner: UsersCloner) -> str:
    """The lines that import a user's own cloner."""
    first = cloner.function.partition(".")[0]
    if all(each.isidentifier() and not iskeyword(each) for each in cloner.module.split(".")):
        needs = ["import sys"] if cloner.folder else []
        line = f"from {cloner.module} import {first}" + ("" if first == "cloner" else " as cloner")
    else:
        needs = ["import importlib", *(["import sys"] if cloner.folder else [])]
        line = f"cloner = importlib.import_module({literal(cloner.module)}).{first}"
    path = [f"sys.path.insert(0, {literal(cloner.folder)})"] if cloner.folder else []
    return "\n".join((*needs, *([""] if needs else []), *path, line))


def _called(cloner: UsersCloner) -> str:
    """The line that calls it."""
    _, dot, rest = cloner.function.partition(".")
    return f"clone = cloner{dot}{rest}(model)"


def _arguments(case: Case | None) -> str:
    """What `clone_model` is given beside the model, as it stands in its call."""
    named = {} if case is None else case.arguments
    given = [f"{name}={text}" for name, text in named.items() if name != MODEL]
    short = "".join(f", {each}" for each in given)
    if len(short) <= _SHORT:
        return short
    return ",\n" + "".join(f"    {each},\n" for each in given)


def _names_anew(difference: Difference, dialect: str, lines: list[str]) -> list[str]:
    """A line that has layers numbered from the beginning, where names are compared, or layers found by them."""
    named = "name" in difference.aspect or difference.aspect == "weight scope"
    named = named or any(".get_layer(" in line or "if each.name ==" in line for line in lines)
    return [_COUNT_ANEW[dialect]] if named else []


def _comparison(difference: Difference, dialect: str, case: Case | None) -> tuple[list[str], list[str], bool]:
    """The lines before the clone is made, those that fail after it, and whether they compare just what differed.

    No lines where that takes many of them. What there is to compare, the check says that found the difference.
    """
    if difference.check == "untouched":
        return _untouched(difference, dialect, case)
    told = comparison(difference, dialect)
    match told.how:
        case "warns":
            return ["import re", "import warnings"], _warned(difference), told.sure
        case "raises":
            return [], [], True
        case "asked" if case is not None and "clone_function" in case.arguments:
            return ["asked = []"], ["", f"assert {told.expression}"], True
        case "kept":
            return [], ["", f"assert {told.expression}"], case is not None
        case "run":
            return ([], *running.compared(difference, told, dialect, case))
        case "assert":
            return [], ["", f"assert {told.expression}"], told.sure
        case "shared":
            return [], _shared(told.expression), True
        case "equal" if told == WHOLE_CONFIG and dialect == "keras":
            return [], list(_CONFIG_BUT_FOR_INPUTS), told.sure
        case "equal" if told.expression:
            return [], _equal(told), told.sure
    return [], [], False


def _warned(difference: Difference) -> list[str]:
    """Lines that fail where the warning was heard, whatever numbers are in it, and whatever else was."""
    message = difference.raised.message if difference.raised else ""
    said = re.sub(_NUMBERS, "", message.partition(" ... ")[0])
    return [
        "",
        f"said = {literal(said)}",
        f'told = [re.sub(r"{_NUMBERS}", "", str(each.message)) for each in heard]',
        'assert not any(said in each for each in told), f"cloning warns: {told}"',
    ]


def _untouched(difference: Difference, dialect: str, case: Case | None) -> tuple[list[str], list[str], bool]:
    """Lines that note what the original is like, and those that fail where it is so no more."""
    difference = replace(difference, path=difference.path.removeprefix("original."))
    told = comparison(difference, dialect)
    if difference.path.startswith(("inference", "training")):
        if difference.raised is not None or told.how != "run":
            return [], [], False
        return (*running.unchanged(difference, dialect, case), False)
    if told.how == "weights":
        before = ["import numpy as np", "", *running.weighted(case), f"before = {told.expression}"]
        return before, ["", f"assert all(map(np.array_equal, {told.expression}, before))"], case is not None
    if told.how != "equal" or not told.expression:
        told = WHOLE_CONFIG
    now = told.expression.format("model")
    return [f"before = {now}"], ["", f"assert {now} == before"], told.sure


def _shared(expression: str) -> list[str]:
    """Lines that fail where the clone has what is the original's own."""
    return [
        "",
        f"own = {{id(each) for each in {expression.format('model')}}}",
        f"shared = [each.name for each in {expression.format('clone')} if id(each) in own]",
        'assert not shared, f"{shared} in the clone are the original\'s own"',
    ]


def _equal(told: Comparison) -> list[str]:
    """The lines that compare what two models have, and tell what that is."""
    expression = told.expression
    if told == WHOLE_CONFIG:
        return [f"assert {expression.format('clone')} == {expression.format('model')}"]
    return [
        f"expected, found = [{expression.format('it')} for it in (model, clone)]",
        'assert found == expected, f"{found} in the clone, {expected} in the model"',
    ]
