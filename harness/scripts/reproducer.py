"""A script of plain Keras that shows a difference: the model, the clone, and the comparison that fails.

Nothing of ours is in the script: it is for pasting into a bug report.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
from msgspec.structs import replace

from clonediff.harness.inside.cloners.users import is_users, users_cloner
from clonediff.harness.observation import Case
from clonediff.harness.scripts.comparisons import WHOLE_CONFIG, comparison, literal
from clonediff.harness.scripts.running import run_facts
from clonediff.harness.trials.trial import Hit
from clonediff.reports.markup import one_line
from clonediff.reports.records import Difference

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
    of_original = difference.check == "untouched"
    plan = comparison(replace(difference, model="clone") if of_original else difference, dialect)
    if of_original and not (plan.how == "equal" and plan.expression):
        plan = WHOLE_CONFIG
    in_cloning = difference.check in _IN_CLONING
    warning = difference.raised.message if difference.check == "warned" and difference.raised else ""
    facts: dict[str, Any] = {
        "case": case,
        "difference": difference,
        "cloner": cloner,
        "users": users_cloner(cloner),
        "how": "config" if plan == WHOLE_CONFIG else plan.how,
        "expression": plan.expression,
        "of": plan.expression.format,
        "warning": _pattern(warning),
        "in_cloning": in_cloning,
        "literal": literal,
        "comment": comment,
    }
    sure = plan.sure
    if plan.how == "run":
        of_run, sure = run_facts(difference, plan.sure, dialect, case)
        facts |= of_run
    text = _templates().get_template("repro.j2").render(facts)
    compares = plan.how in ("run", "assert") or (plan.how == "equal" and plan.expression) or in_cloning
    return Script(text, ending_of(difference) if compares else "", sure, imports_clonediff(cloner))


@functools.cache
def _templates() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


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


def _pattern(warning: str) -> str:
    """What matches a warning, whatever its numbers."""
    return ".*".join(map(re.escape, re.split(_NUMBERS, warning.partition(" ... ")[0])))
