"""`clonediff check`: a model of your own through upstream and fixed, all checks."""

from __future__ import annotations

import sys

import click

from clonediff.harness.answers.check import check, checked_text, without_renames
from clonediff.harness.cli import options as shared
from clonediff.harness.cli.terminal import exit_code, say, say_json
from clonediff.reports.markup import visible


@click.command("check")
@click.argument("model", metavar="FILE.keras|FILE.py:FUNCTION")
@shared.cloners
@click.option(
    "--clone-function",
    type=shared.users_function,
    metavar="FILE.py:NAME",
    help="A clone_function that clone_model is given; what it makes otherwise is no difference.",
)
@click.option(
    "--ignore",
    "ignored",
    metavar="ID",
    multiple=True,
    help="A fingerprint or known issue that may be there; `documented` for what Keras documents.",
)
@click.option(
    "--script", is_flag=True, help="Print a script of plain Keras that shows the worst break that one can show, only."
)
@shared.as_json("Print JSON, with a script for each break.")
def command(
    model: str,
    cloners: tuple[str, ...],
    clone_function: str | None,
    ignored: tuple[str, ...],
    script: bool,
    as_json: bool,
) -> None:
    """Say whether a model of your own is cloned faithfully.

    The model is a saved file, or what a function of a file returns. The code of that file is run. A saved file is
    loaded as Keras loads it by default, so one with a Python lambda is refused: let a function load it. Inputs are
    random numbers of the shapes that the model takes.

    Exit codes: 0 every clone is as good as the original, but for names and for what --ignore names; 1 a cloner breaks
    something else, known issue or not; 2 the model could not be loaded or checked; 130 interrupted.
    """
    checked = check(model, tuple(dict.fromkeys(cloners)), clone_function or "")
    say_json(checked) if as_json else say(checked_text(checked, ignored), err=script)
    if script:
        worst = next((cause.script for cause in without_renames(checked.causes) or checked.causes if cause.script), "")
        if checked.causes and not worst:
            why = (
                "a clone function is in no script"
                if clone_function
                else "no script of plain Keras shows this difference"
            )
            raise click.ClickException(f"{why}: leave out --script, for the difference in words")
        click.echo(visible(worst) if worst else "no break to show", nl=not worst, err=not worst)
    sys.exit(exit_code(breaks=checked.fails(ignored)))
