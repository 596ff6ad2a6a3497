"""`clonediff check`: a model of your own through upstream and fixed, all checks.

Owns the arguments, the progress and the exit code.
"""

from __future__ import annotations

import sys

import click

from clonediff.harness.answers.checked_model.looking import SECONDS, look
from clonediff.harness.answers.checked_model.models import ModelError, parse
from clonediff.harness.answers.checked_model.record import CheckedModel, Status
from clonediff.harness.answers.checked_model.verdicts import fails
from clonediff.harness.cli import options as shared
from clonediff.harness.cli.terminal import StatusLine, json_text
from clonediff.harness.cli.text.check import checked_text
from clonediff.harness.scripts.comments import comment
from clonediff.harness.subjects.outcomes import SubjectError
from clonediff.harness.subjects.releases import open_subject
from clonediff.harness.subjects.subject import Subject
from clonediff.harness.subjects.warm_child import Limits
from clonediff.reports.known import load
from clonediff.reports.markup import one_line, visible

_PIPED = 15.0
"""Off a terminal nobody waits for a line on what is over sooner than this."""


@click.command("check")
@click.argument("model", metavar="MODEL")
@click.option(
    "--subject",
    type=shared.SubjectName(),
    default="keras",
    show_default=True,
    help=f"Whose clone_model. {shared.SUBJECT_HELP}",
)
@shared.cloners
@click.option("--unsafe", is_flag=True, help="Load a file that holds code, such as lambdas: it may do anything.")
@click.option(
    "--ignore",
    "ignored",
    metavar="ID",
    multiple=True,
    help="Exit with 0 in spite of this: a fingerprint, or the id of a known issue.",
)
@click.option("--script", is_flag=True, help="Print a script of plain Keras that shows the worst break, only.")
@shared.as_json("Print JSON.")
def command(
    model: str,
    subject: str,
    cloners: tuple[str, ...],
    unsafe: bool,
    ignored: tuple[str, ...],
    script: bool,
    as_json: bool,
) -> None:
    """Say whether a model of your own is cloned faithfully, and what to do where it is not.

    MODEL is a file (.keras, .h5), or FILE.py:FUNCTION, which makes the model. Weights and inputs are set to random
    numbers; the file is only read. Whole numbers stay within the embeddings that they are looked up in, and those of an
    input that is named as a mask are 0 and 1.

    The model is loaded in a process of its own, with limits of time and memory. That bounds it and is no sandbox: a
    file that holds code (a Lambda of a Python lambda), or cannot be searched for it, is not loaded without --unsafe,
    while FILE.py is code that you name, and is run.

    With --cloner module:function a function of your own clones, which takes a model and gives its clone. A module is
    looked for in the current folder first.

    Exit codes: 0 every clone is as good as the original, but for names, for what Keras documents that clone_model
    leaves out, and for what --ignore names; 1 a cloner breaks something else, known issue or not; 2 the model could not
    be loaded or checked; 130 interrupted.
    """
    if script and as_json:
        raise click.UsageError("--script or --json: in JSON, each break has its script")
    status = StatusLine() if sys.stderr.isatty() else StatusLine(soon=_PIPED)
    try:
        checked = _checked(model, Subject.parse(subject), tuple(dict.fromkeys(cloners)), status, unsafe=unsafe)
    except ModelError as error:
        raise click.UsageError(str(error)) from None
    finally:
        status.clear()
    if as_json:
        click.echo(json_text(checked))
    else:
        click.echo("\n".join(checked_text(checked, ignored)), err=script)
    if script:
        _print_script(checked)
    sys.exit(2 if checked.status is not Status.CHECKED else int(fails(checked, ignored)))


def _checked(
    spec: str, subject: Subject, cloners: tuple[str, ...], status: StatusLine, *, unsafe: bool
) -> CheckedModel:
    """Check a model in a process of its own. A subject that fails is an answer as well."""
    model, limit = parse(spec), shared.memory_limit()
    limits = Limits(trial=SECONDS, memory=limit, recycle=limit, cloning=0)
    try:
        status.show(f"starting {subject}")
        with open_subject(subject, limits=limits) as process:
            return look(model, process, load(), cloners=cloners, unsafe=unsafe, tell=status.show)
    except SubjectError as error:
        return CheckedModel(spec, str(subject), Status.NO_SUBJECT, reason=str(error))


def _print_script(checked: CheckedModel) -> None:
    """The script of the worst break, upstream's before others'."""
    ordered = sorted(checked.clones, key=lambda cloned: cloned.cloner != "upstream")
    shown = next((each for cloned in ordered for each in cloned.breaks), None)
    if shown is None:
        click.echo("no break to show", err=True)
        return
    head = comment(f"# {one_line(checked.model)}: {one_line(shown.headline)}")
    click.echo(f"{head}\n{visible(shown.script)}", nl=False)
