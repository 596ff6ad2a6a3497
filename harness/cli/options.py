"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from clonediff.harness.subjects.releases import pin
from clonediff.harness.trials.cloners import allow_cloners, full_name_of_cloner
from clonediff.reports.known import KNOWN_ISSUES
from clonediff.reports.markup import one_line
from clonediff.reports.records import EFFECTS, SEVERITIES, UPSTREAM_AND_FIXED

Command = TypeVar("Command", bound=Callable[..., Any])


def _parse_cloner(value: str) -> str:
    if ":" not in value:
        if value not in UPSTREAM_AND_FIXED:
            choices = f"{', '.join(UPSTREAM_AND_FIXED)}, or module:function of your own"
            raise click.BadParameter(f"expected one of {choices}, found {one_line(repr(value))}")
        return value
    return parse_function(value)


def parse_function(value: str) -> str:
    """Parse `module:function` or `FILE.py:function`, and allow the function to run."""
    try:
        name = full_name_of_cloner(value)
    except ValueError as error:
        raise click.BadParameter(one_line(str(error))) from None
    allow_cloners([name])
    return name


def subject(help_: str, *names: str, **settings: Any) -> Callable[[Command], Command]:
    """The option `--subject`; a checkout is copied."""
    return click.option("--subject", *names, type=pin, metavar="SUBJECT", help=help_, **settings)


def cloner(help_: str, *names: str, **settings: Any) -> Callable[[Command], Command]:
    return click.option("--cloner", *names, type=_parse_cloner, metavar="NAME", help=help_, **settings)


_LIST_SETTINGS = {"multiple": True, "show_default": True}
_SUBJECTS = "What to try: a release, an installed package, a checkout, REPOSITORY#COMMIT, a wheel, or keras-nightly."
_CLONERS = f"{', '.join(UPSTREAM_AND_FIXED)}, or a function of your own, as module:function or FILE.py:function."
_KNOWN = "The folder of known issues [reports/known of clonediff]."
subjects = subject(_SUBJECTS, "subjects", default=("keras",), **_LIST_SETTINGS)
cloners = cloner(_CLONERS, "cloners", default=UPSTREAM_AND_FIXED, **_LIST_SETTINGS)
known_issues = click.option("--known-issues", type=click.Path(path_type=Path), default=KNOWN_ISSUES, help=_KNOWN)


def at_least(help_: str, default: str = "renamed") -> Callable[[Command], Command]:
    help_ = f"{help_}. The choices mean that the clone {', '.join(EFFECTS.values())}."
    choice = click.Choice(list(SEVERITIES))
    return click.option("--at-least", type=choice, default=default, show_default=True, help=help_)


def as_json(help_: str) -> Callable[[Command], Command]:
    return click.option("--json", "as_json", is_flag=True, help=help_)


def refuse_other_options(subject: str, *accepted: str) -> None:
    """Raise `UsageError` if the subject does not accept an option."""
    context = click.get_current_context()
    for parameter in context.command.params:
        is_typed = context.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE
        if is_typed and isinstance(parameter, click.Option) and parameter.opts[0] not in ("--subject", *accepted):
            raise click.UsageError(f"{subject} does not accept {parameter.opts[0]}; it accepts {', '.join(accepted)}")
