"""`clonediff repro`: the script of a finding; or a run of it; or the text of its issue."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from clonediff.harness.answers.repro import issue_of, issue_of_root, run_on
from clonediff.harness.answers.targets import single_target
from clonediff.harness.cli import options as shared
from clonediff.harness.cli.terminal import exit_code, say
from clonediff.harness.scripts.runner import ReplayAnswer
from clonediff.harness.subjects.subject import Subject
from clonediff.reports.known import load
from clonediff.reports.markup import one_line, visible


@click.command("repro")
@click.argument("what", type=click.Path(path_type=Path), metavar="FINDING|RUN|ISSUE|ROOT")
@click.argument("id_", default="", metavar="[ID]")
@click.option("--run", is_flag=True, help="Run it, and say whether it fails as it should.")
@click.option("--issue", "as_issue", is_flag=True, help="The text of the issue instead.")
@shared.subject("Run it on this [the finding's own].", "subject_name")
def command(what: Path, id_: str, subject_name: str | None, run: bool, as_issue: bool) -> None:
    """Print the script of a finding: a screen of plain Keras that fails.

    FINDING is a finding's folder or its finding.json. In a RUN, such as runs/latest, ID is a finding's id or the
    beginning of it; without ID the run has to have one finding. ISSUE is the id of a known issue, such as
    lambda-refused. ROOT is what many known issues have in common, such as settings, or tf-settings for tf_keras: with
    --issue, it is the text of one issue for all of them.

    With --run it is run in a fresh process, and is not printed; clonediff can be imported there only for a cloner of
    its own or of yours. A release that is not there is installed.

    Exit codes: 0 done; with --run, the script fails as it should. 1 with --run, it does not. 2 there is no such
    finding, or it cannot be read or run.
    """
    if run and as_issue:
        raise click.UsageError("--run and --issue: choose one")
    known = load()
    if not what.exists() and (text := issue_of_root(str(what), known)) is not None:
        if run or not as_issue:
            raise click.ClickException(f"{what}: is the root of many known issues: add --issue")
        click.echo(visible(text), nl=False)
        return
    target = single_target(str(what), id_, known)
    script = target.script
    assert script is not None  # it is a finding or a known issue
    if run:
        subject = Subject.parse(subject_name or target.subject or target.generation)
        answer, words = run_on(script, subject)
        name = (target.finding and target.finding.known) or target.id
        say(one_line(f"{name} on {subject}: {words}"))
        sys.exit(exit_code(failed=answer is ReplayAnswer.UNKNOWN, breaks=answer is not ReplayAnswer.BREAKS))
    text = visible(issue_of(target) if as_issue else script.text)
    click.echo(text, nl=not text.endswith("\n"))
