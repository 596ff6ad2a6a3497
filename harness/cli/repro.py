"""`clonediff repro`: the script of a finding, made anew; or a run of it; or the text of its issue.

Owns the arguments, what is said and the exit code.
"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from clonediff.harness.cli import options as shared
from clonediff.reports.markup import one_line, visible
from clonediff.reports.records import RecordError, write_bytes


class NoScript(click.ClickException):
    """No script can be had; a line says why."""

    exit_code = 2


@click.command("repro")
@click.argument("what", type=click.Path(path_type=Path), metavar="FINDING|RUN")
@click.argument("id_", default="", metavar="[ID]")
@click.option("--run", "run_it", is_flag=True, help="Run it, and say whether it fails as it should.")
@click.option("--issue", "as_issue", is_flag=True, help="The text of the issue instead.")
@click.option(
    "--subject", "subject_name", type=shared.SubjectName(), help="Write it for another release [the finding's own]."
)
@shared.layers
@shared.out_file("Write it to a file.")
def command(what: Path, id_: str, run_it: bool, as_issue: bool, subject_name: str | None, out: Path | None) -> None:
    """Print the script of a finding: a screen of plain Keras that fails.

    FINDING is a finding's folder or its finding.json. In a RUN, such as runs/latest, ID is a finding's id or the
    beginning of it; without ID the run has to have one finding. The script is made anew from the graph, as this
    clonediff writes it; where it cannot be, the one that was kept is printed, and that is said.

    With --run it is run in a fresh process where nothing of clonediff can be imported, and is not printed. A release
    that is not there is installed.

    Exit codes: 0 done; with --run, the script fails as it should. 1 with --run, it does not. 2 there is no such
    finding, or it cannot be read, written or run.
    """
    if run_it and as_issue:
        raise click.UsageError("--run and --issue: choose one")
    from clonediff.harness.answers.replay_target import NotFoundError, finding_at
    from clonediff.harness.answers.repro import UnwritableError, run_on, script, subject_of
    from clonediff.harness.subjects.subject import Subject

    try:
        kept = finding_at(what, id_)
    except (NotFoundError, RecordError) as error:
        raise NoScript(one_line(str(error), 2000)) from None
    finding = kept.finding
    subject = Subject.parse(subject_name) if subject_name is not None else None
    try:
        made = script(finding, subject)
        text, problem = made.text, ""
    except UnwritableError as error:
        if subject is not None or run_it:
            raise NoScript(one_line(f"{finding.id}: {error}")) from None
        made, text, problem = None, kept.script or finding.source, str(error)
    if problem:
        said = f"{finding.id}: cannot be made anew ({problem}); what is printed is the script that was kept"
        click.echo(f"clonediff: {one_line(said)}", err=True)
    if as_issue:
        from clonediff.reports.issue import issue

        text = (kept.issue if subject is None else "") or issue(finding, text)
    text = visible(text)
    if out is not None:
        write_bytes(out, text.encode("utf-8", "replace"))
    if run_it and made is not None:
        shown = run_on(made, subject or subject_of(finding))
        word = {True: "reproduced", False: "does not fail as it should", None: "cannot be run"}[shown.breaks]
        click.echo(f"{one_line(finding.id)} on {subject or subject_of(finding)}: {word}: {one_line(shown.said)}")
        sys.exit({True: 0, False: 1, None: 2}[shown.breaks])
    if out is None:
        click.echo(text, nl=not text.endswith("\n"))
    else:
        click.echo(f"written to {out}", err=True)
