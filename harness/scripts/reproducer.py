"""A script of plain Keras that shows a difference: the model, the clone, and the comparison that fails.

Nothing of ours is in the script: it is for pasting into a bug report.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass

from msgspec.structs import replace

from clonediff.harness.inside.cloners.users import is_users, users_cloner
from clonediff.harness.observation import Case
from clonediff.harness.scripts import running
from clonediff.harness.scripts.comparisons import WHOLE_CONFIG, comparison, literal
from clonediff.harness.trials.trial import Hit
from clonediff.reports.markup import one_line
from clonediff.reports.records import Difference

_CLONES = {
    "upstream": "clone = keras.models.clone_model({})",
    "fixed": "from clonediff import clone_model\n\nclone = clone_model({})",
}
_CONFIG_BUT_FOR_INPUTS = """
import json


def config(model):
    # Inputs without a name of their own have another one in the clone: that is no part of this.
    text = json.dumps(model.get_config(), sort_keys=True, default=str)
    for number, tensor in enumerate(model.inputs):
        text = text.replace(f'"{tensor._keras_history[0].name}"', f'"input {number}"')
    return text


assert config(clone) == config(model)"""
_NUMBERS = r"0x[0-9a-fA-F]*|_?\d+"
"""What says nothing in a warning: addresses, and the numbers of names."""
_IN_CLONING = ("made", "warned")
"""Checks of what happens while a clone is made: the line that makes it is the one that fails."""
_ENCODING = re.compile(r"(coding)(?=[:=])")
"""In a file's first lines it says in which encoding the file is, and in some a comment can hold the end of its line."""


@dataclass(frozen=True, slots=True)
class Script:
    """`raises` is the type of the exception that the script has to end in; "" where it shows the models only.

    `sure` says that the script makes the very comparison that differed, whatever the numbers that it runs on, so that
    it is wrong if it does not fail. `with_clonediff`: clonediff has to be there when it is run.
    """

    text: str
    raises: str = ""
    sure: bool = False
    with_clonediff: bool = False


def script_of(hit: Hit, dialect: str, versions: Mapping[str, str]) -> Script:
    """The script that shows a hit: plain Keras, unless it is our own cloner that breaks it."""
    if hit.cause is None:
        return with_versions(Script(hit.case.source), versions)
    return with_versions(reproducer(hit.case, dialect, hit.cause.root, hit.cloner), versions)


def reproducer(case: Case, dialect: str, difference: Difference, cloner: str = "upstream") -> Script:
    """The script for a difference that a cloner made, with what was expected and found as its last comment."""
    numbers, values = difference.numbers, difference.numbers or difference
    at = f" {numbers.at}" if numbers and numbers.at else ""
    facts = [comment(f"# {difference.check}: {difference.path}")]
    if difference.check in _IN_CLONING:
        facts.append(f"#   {comment(difference.found)}")
    else:
        facts += [f"#   original: {comment(values.expected)}{at}", f"#   clone:    {comment(values.found)}{at}"]
    facts += [f"#   {numbers.said}"] if numbers else []
    clone = _CLONES.get(cloner) or _called(cloner)
    source = case.source.rstrip("\n")
    before, lines, sure = _comparison(difference, dialect, case)
    imports, _, clone = clone.rpartition("\n\n")
    clone = clone.replace("{}", f"model{_arguments(case)}")
    if case.within:
        clone = re.sub("^clone = ", f"with {', '.join(case.within)}:\n    clone = ", clone, flags=re.MULTILINE)
    parts = (source, *(["", imports] if imports else []), *(["", *before] if before else []), "", clone, *lines)
    compares = lines or difference.check in _IN_CLONING
    text = "\n".join((*parts, "", *facts, ""))
    return Script(text, ending_of(difference) if compares else "", sure, imports_clonediff(cloner))


def imports_clonediff(cloner: str) -> bool:
    """Whether the scripts of a cloner import clonediff, or a user's own cloner, which may be made of it."""
    return cloner == "fixed" or is_users(cloner)


def ending_of(difference: Difference) -> str:
    """The type of the exception in which the script for a difference has to end."""
    return "AssertionError" if difference.raised is None else difference.raised.type


def with_versions(script: Script, versions: Mapping[str, str]) -> Script:
    """The script with the versions that it was seen on, as its last comment."""
    line = comment(", ".join(f"{name} {version}" for name, version in versions.items()))
    return dataclasses.replace(script, text=f"{script.text}# {line}\n") if versions else script


def comment(text: str) -> str:
    """The text on one line, cut where it is long; control characters stand as their code."""
    return _ENCODING.sub("\\1 ", one_line(text, 160))


def _called(name: str) -> str:
    """The lines that import a user's own cloner and call it."""
    cloner = users_cloner(name)
    assert cloner is not None, "a trial asks for no other"
    path = f"sys.path.insert(0, {literal(cloner.folder)})\n" if cloner.folder else ""
    module = f"cloner = importlib.import_module({literal(cloner.module)})"
    return f"import importlib\nimport sys\n\n{path}{module}\n\nclone = cloner.{cloner.function}(model)"


def _arguments(case: Case) -> str:
    """What `clone_model` is given beside the model, as it stands in its call."""
    return "".join(f", {name}={text}" for name, text in case.arguments.items())


def _comparison(difference: Difference, dialect: str, case: Case) -> tuple[list[str], list[str], bool]:
    """The lines before the clone is made, those that fail after it, and whether they compare just what differed.

    No lines where that takes many of them.
    """
    if difference.check == "untouched":
        plan = comparison(replace(difference, model="clone"), dialect)
        plan = plan if plan.how == "equal" and plan.expression else WHOLE_CONFIG
        now = plan.expression.format("model")
        return [f"before = {now}"], ["", f"assert {now} == before"], plan.sure
    plan = comparison(difference, dialect)
    expression = plan.expression
    if plan.how == "raises":
        return _warnings_raised(difference), [], True
    if plan.how == "run":
        return ([], *running.compared(difference, plan.sure, dialect, case))
    if plan.how == "assert":
        return [], ["", f"assert {expression}"], plan.sure
    if plan == WHOLE_CONFIG:
        return [], _CONFIG_BUT_FOR_INPUTS.split("\n"), False
    return [], _equal(expression) if expression else [], plan.sure


def _equal(expression: str) -> list[str]:
    """The lines that compare what two models have, and tell what that is."""
    return [
        *(["import tensorflow as tf", ""] if "tf." in expression else []),
        f"expected = {expression.format('model')}",
        f"found = {expression.format('clone')}",
        'assert found == expected, f"{found} in the clone, {expected} in the model"',
    ]


def _warnings_raised(difference: Difference) -> list[str]:
    """The lines by which a warning is raised."""
    if difference.check != "warned" or difference.raised is None:
        return []
    pattern = ".*".join(map(re.escape, re.split(_NUMBERS, difference.raised.message.partition(" ... ")[0])))
    return ["import warnings", "", f'warnings.filterwarnings("error", {literal(pattern)})']
