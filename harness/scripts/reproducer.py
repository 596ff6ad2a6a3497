"""Write a difference's script: the model, its clone, and a comparison that fails.

With Keras' own cloner, it needs only Keras, as a bug report should.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
from msgspec.structs import replace

from clonediff.harness.inside.cloners.users import is_users_cloner, parse_cloner_name
from clonediff.harness.inside.values import DEFAULT_BATCH, FILLS, WORDS, default_fill, shape_of
from clonediff.harness.observation import Case
from clonediff.harness.scripts.comparisons import WHOLE_CONFIG, comparison, literal
from clonediff.harness.trials.trial import TrialCause
from clonediff.reports.markup import one_line
from clonediff.reports.records import Difference

_NUMBERS = r"0x[0-9a-fA-F]*|_?\d+"
"""Addresses, and numbers in names, which differ between similar warnings."""
_CLONING_CHECKS = ("made", "warned")
"""Checks whose scripts fail in the call that clones the model."""
_RUN_SETTINGS = {
    "keras": {"tf": False, "tree": "keras.tree", "array": "keras.ops.convert_to_numpy"},
    "tf_keras": {"tf": True, "tree": "tf.nest", "array": "np.asarray"},
}
_ENCODING = re.compile(r"(coding)(?=[:=])")
"""An encoding declaration, which a comment must not contain."""


@dataclass(frozen=True, slots=True)
class Script:
    """A script, and how it has to end.

    `raises` is the type of the exception that ends it, "" if it compares nothing. If `must_fail`, it fails on every
    release that has the difference, whatever numbers are drawn. If `uses_clonediff`, it imports clonediff.
    """

    text: str
    raises: str = ""
    must_fail: bool = False
    uses_clonediff: bool = False


def script_of(trial_cause: TrialCause, generation: str, versions: Mapping[str, str]) -> Script:
    """The script of a cause; without differences, only the model's source."""
    if trial_cause.cause is None:
        return add_versions(Script(trial_cause.case.source), versions)
    return add_versions(reproducer(trial_cause.case, generation, trial_cause.cause.root, trial_cause.cloner), versions)


def reproducer(case: Case, generation: str, difference: Difference, cloner: str = "upstream") -> Script:
    """A difference's script; it ends with the expected and found values."""
    changes_original = difference.check == "untouched"
    plan = comparison(replace(difference, model="clone") if changes_original else difference, generation)
    if changes_original and not (plan.method == "equal" and plan.expression):
        plan = WHOLE_CONFIG
    is_cloning = difference.check in _CLONING_CHECKS
    warning = difference.raised.message if difference.check == "warned" and difference.raised else ""
    variables: dict[str, Any] = {
        "case": case,
        "difference": difference,
        "cloner": cloner,
        "user_cloner": parse_cloner_name(cloner),
        "method": "config" if plan == WHOLE_CONFIG else plan.method,
        "expression": plan.expression,
        "expression_for": plan.expression.format,
        "warning": _warning_pattern(warning),
        "is_cloning": is_cloning,
        "literal": literal,
        "shorten_for_comment": shorten_for_comment,
    }
    must_fail = plan.must_fail
    if plan.method == "run":
        run_variables, must_fail = _run_variables(difference, plan.must_fail, generation, case)
        variables |= run_variables
    text = _templates().get_template("repro.j2").render(variables)
    compares = plan.method in ("run", "assert") or (plan.method == "equal" and plan.expression) or is_cloning
    return Script(text, ending_of(difference) if compares else "", must_fail, imports_clonediff(cloner))


def _run_variables(difference: Difference, must_fail: bool, generation: str, case: Case) -> tuple[dict[str, Any], bool]:
    """The variables of `run.j2`, and the `must_fail` of its script."""
    functions: dict[str, str] = {}
    arrays = [_array_expression(spec, case.batch or DEFAULT_BATCH, functions) for spec in case.inputs]
    variables = {**_RUN_SETTINGS[generation], "must_fail": must_fail, "functions": functions.values(), "arrays": arrays}
    is_output = difference.run != "" and not difference.in_step
    return variables, difference.raised is not None or (is_output and must_fail)


def _array_expression(spec: Mapping[str, Any], batch: int, functions: dict[str, str]) -> str:
    """The expression that draws an input; adds to `functions`."""
    shape, dtype = shape_of(spec, batch), str(spec.get("dtype", "float32"))
    fill = spec.get("fill") or default_fill(dtype)
    if fill == "words":
        return f"np.array({json.dumps(WORDS)}, dtype=object)[rng.integers(0, {len(WORDS)}, {shape})]"
    array = f"rng.standard_normal({shape})"
    if fill != "normal":
        body = inspect.getsource(FILLS[fill]).partition("\n")[2]
        functions[fill] = f"def {fill}(random, shape, spec):\n{body}"
        array = f"{fill}(rng, {shape}, {{'high': {spec.get('high') and int(spec['high'])}}})"
    return f"{array}.astype({json.dumps('float32' if dtype == 'bfloat16' else dtype)})"


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
    """Whether scripts with this cloner import clonediff; a user's may."""
    return cloner == "fixed" or is_users_cloner(cloner)


def ending_of(difference: Difference) -> str:
    """The type of exception that has to end the script."""
    return "AssertionError" if difference.raised is None else difference.raised.type


def add_versions(script: Script, versions: Mapping[str, str]) -> Script:
    line = shorten_for_comment(", ".join(f"{name} {version}" for name, version in versions.items()))
    return dataclasses.replace(script, text=f"{script.text}# {line}\n") if versions else script


def shorten_for_comment(text: str) -> str:
    """Shorten a text to one line that is safe in a comment."""
    return _ENCODING.sub("\\1 ", one_line(text, 160))


def _warning_pattern(warning: str) -> str:
    """A regular expression for the warning with any numbers."""
    return ".*".join(map(re.escape, re.split(_NUMBERS, warning.partition(" ... ")[0])))
