"""`clonediff repro`: print or run the script of a finding, or print an issue."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from clonediff.harness.answers.repro import issue_of, issue_of_root, run_script
from clonediff.harness.answers.targets import single_target
from clonediff.harness.cli import options as shared
from clonediff.harness.cli.terminal import exit_code, say
from clonediff.harness.scripts.runner import ReplayAnswer
from clonediff.harness.subjects.subject import Subject
from clonediff.reports.known import load
from clonediff.reports.markup import escape_controls, one_line


@click.command("repro")
@click.argument("target_path", type=click.Path(path_type=Path), metavar="FINDING|RUN|ISSUE|ROOT")
@click.argument("id_", default="", metavar="[ID]")
@click.option("--run", is_flag=True, help="Run the script instead of printing it, and check that it fails as expected.")
@click.option("--issue", "as_issue", is_flag=True, help="Print an issue for the tracker of Keras instead.")
@shared.subject("The subject to run it on [the subject of the finding].", "subject_name")
def command(target_path: Path, id_: str, subject_name: str | None, run: bool, as_issue: bool) -> None:
    """Print the script of a finding: a few lines of plain Keras that fail.

    FINDING is the folder of a finding or its finding.json. In a RUN, such as runs/latest, ID is the id of a finding or
    its first letters; a run with one finding needs no ID. ISSUE is the id of a known issue, such as lambda-refused.
    ROOT is the root cause of many known issues, such as settings, or tf-settings for tf_keras: with --issue, one issue
    for all of them is printed.

    --run runs the script in a fresh process, which can import clonediff only if the cloner is `fixed` or a function of
    your own. A release that is missing is installed.

    Exit codes: 0 printed, or with --run, the script failed as expected; 1 with --run, the script did not fail as
    expected; 2 there is no such finding, or it cannot be read or run.
    """
    if run and as_issue:
        raise click.UsageError("choose --run or --issue, not both")
    known = load()
    if not target_path.exists() and (text := issue_of_root(str(target_path), known)) is not None:
        if run or not as_issue:
            raise click.ClickException(
                f"{target_path} is the root cause of many known issues, so it has no single script: add --issue"
            )
        click.echo(escape_controls(text), nl=False)
        return
    target = single_target(str(target_path), id_, known)
    script = target.script
    assert script is not None  # only a graph has none
    if run:
        subject = Subject.parse(subject_name or target.subject or target.generation)
        answer, text = run_script(script, subject)
        name = (target.finding and target.finding.known) or target.id
        say(one_line(f"{name} on {subject}: {text}"))
        sys.exit(exit_code(failed=answer is ReplayAnswer.UNKNOWN, breaks=answer is not ReplayAnswer.BREAKS))
    text = escape_controls(issue_of(target) if as_issue else script.text)
    click.echo(text, nl=not text.endswith("\n"))
