"""`clonediff check`: check whether a user's model is cloned faithfully."""

from __future__ import annotations

import sys

import click

from clonediff.harness.answers.check import answer_text, check, drop_renames
from clonediff.harness.cli import options as shared
from clonediff.harness.cli.terminal import exit_code, say, say_json
from clonediff.reports.markup import escape_controls


@click.command("check")
@click.argument("model", metavar="FILE.keras|FILE.py:FUNCTION")
@shared.cloners
@click.option(
    "--clone-function",
    type=shared.parse_function,
    metavar="FILE.py:NAME",
    help="Pass this clone_function to clone_model; ignore the layers that it replaces.",
)
@click.option(
    "--ignore",
    "ignored",
    metavar="ID",
    multiple=True,
    help="Accept causes, by fingerprint or known issue; `documented` accepts all that Keras documents.",
)
@click.option("--script", is_flag=True, help="Print only a script of plain Keras that shows the worst difference.")
@shared.as_json("Print JSON, with a script for each cause.")
def command(
    model: str,
    cloners: tuple[str, ...],
    clone_function: str | None,
    ignored: tuple[str, ...],
    script: bool,
    as_json: bool,
) -> None:
    """Check whether a model of yours is cloned faithfully.

    The model is a saved file, or the result of a function in a Python file, whose code is run. A saved file is loaded
    with the defaults of Keras, which reject a Python lambda: to load such a model, name a function. Inputs are random
    numbers in the shapes that the model accepts.

    Exit codes: 0 every clone is faithful, except for names and for what --ignore accepts; 1 a clone differs, known
    issue or not; 2 the model could not be loaded or checked; 130 interrupted.
    """
    result = check(model, tuple(dict.fromkeys(cloners)), clone_function or "")
    say_json(result) if as_json else say(answer_text(result, ignored), err=script)
    if script:
        text = next((cause.script for cause in drop_renames(result.causes) or result.causes if cause.script), "")
        if result.causes and not text:
            problem = "use a clone function" if clone_function else "show this difference"
            raise click.ClickException(f"no script can {problem}: omit --script to read an explanation")
        click.echo(escape_controls(text) if text else "there is no difference to show", nl=not text, err=not text)
    sys.exit(exit_code(breaks=result.fails(ignored)))
