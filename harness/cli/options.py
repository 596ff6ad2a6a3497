"""Options that several commands share, and what their values may be."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
import psutil  # type: ignore[import-untyped]  # it comes without types
from click.core import ParameterSource

from clonediff.reports.known import KNOWN_ISSUES
from clonediff.reports.markup import one_line
from clonediff.reports.records import AT_LEAST, UPSTREAM_AND_FIXED

CLONERS = ("upstream", "fixed", "roundtrip", "deepcopy")
"""The cloners that a person chooses from."""
_SHARE = 0.8
"""Of the memory that is free, what all jobs may take."""

Command = TypeVar("Command", bound=Callable[..., Any])


class ClonerName(click.ParamType):  # type: ignore[type-arg]  # generic in the newest click only
    """The name of a cloner. One of the user's own may run once it is named here."""

    name = "NAME"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name, if there is such a cloner."""
        if ":" not in str(value):
            if value not in CLONERS:
                choices = f"{', '.join(CLONERS)}, or module:function of one of your own"
                self.fail(f"expected one of {choices}, found {one_line(repr(value))}", param, ctx)
            return str(value)
        from clonediff.harness.trials.cloners import allow_cloners, named

        try:
            name = named(str(value))
        except ValueError as error:
            self.fail(one_line(str(error)), param, ctx)
        allow_cloners([name])
        return name


class SubjectName(click.ParamType):  # type: ignore[type-arg]  # generic in the newest click only
    """The name of a subject. A tree is copied, so that what the command tries is the same code to the end."""

    name = "SUBJECT"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name by which it is the same code for ever."""
        from clonediff.harness.subjects.releases import in_full

        return in_full(str(value))


subjects = click.option(
    "--subject",
    "subjects",
    type=SubjectName(),
    multiple=True,
    default=("keras",),
    show_default=True,
    help="What to try: a release, an installed package, a checkout, REPOSITORY#COMMIT, a wheel file, or keras-nightly.",
)
cloners = click.option(
    "--cloner",
    "cloners",
    type=ClonerName(),
    multiple=True,
    default=UPSTREAM_AND_FIXED,
    show_default=True,
    help=f"Who clones: {', '.join(CLONERS)}, or a function of your own, as module:function or FILE.py:function.",
)
known_issues = click.option(
    "--known-issues",
    type=click.Path(path_type=Path),
    default=KNOWN_ISSUES,
    help="What is known [that of clonediff].",
)


def at_least(help_: str, default: str = "name") -> Callable[[Command], Command]:
    """`--at-least`, a severity."""
    does = "a clone that crashes, computes something else, trains differently, loses a property, changes a name"
    choice = click.Choice(list(AT_LEAST))
    return click.option("--at-least", type=choice, default=default, show_default=True, help=f"{help_}: {does}.")


def as_json(help_: str) -> Callable[[Command], Command]:
    """`--json`."""
    return click.option("--json", "as_json", is_flag=True, help=help_)


def memory_limit(jobs: int = 1) -> int:
    """The bytes that each of the jobs may take: its part of most of what is free."""
    return int(psutil.virtual_memory().available * _SHARE / jobs)


def refuse_others(subject: str, *taken: str) -> None:
    """Refuse the options on the command line that a subject does not take."""
    context = click.get_current_context()
    for parameter in context.command.params:
        typed = context.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE
        if typed and isinstance(parameter, click.Option) and parameter.opts[0] not in ("--subject", *taken):
            raise click.UsageError(f"{subject} does not take {parameter.opts[0]}; it takes {', '.join(taken)}")
