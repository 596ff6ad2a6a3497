"""`clonediff report`: draw the reports of a run again, from its folder.

Owns the arguments, what is said of the run and the exit code.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from clonediff.harness.cli import options as shared
from clonediff.harness.cli.terminal import json_text
from clonediff.reports.records import RecordError


@click.command("report")
@click.argument("run", type=click.Path(path_type=Path))
@shared.out_file("The report's file [RUN/report.html].")
@shared.as_json("Print what the run comes to as JSON.")
def command(run: Path, out: Path | None, as_json: bool) -> None:
    """Draw the reports of a run again, from its folder.

    RUN is a folder that `clonediff fuzz` wrote. In it are written report.html and summary.md, and issue.md
    in each finding that lacks it. A file of the run that is truncated or altered is named, and the rest
    is read.

    Exit codes: 0 nothing new, 1 a finding that is not a known issue, or one that cannot be read, 2 no folder of a run,
    or one that does not say what ran.
    """
    from clonediff.reports.broken import by_worst
    from clonediff.reports.markup import one_line, visible
    from clonediff.reports.reading import read_run
    from clonediff.reports.verdict import verdict
    from clonediff.reports.writing import write_reports

    try:
        read = read_run(run)
    except RecordError as error:
        raise click.ClickException(str(error)) from None
    written = write_reports(read, out)
    found = verdict(read)
    for problem in read.problems:
        click.echo(f"clonediff: {run}: {one_line(problem)}", err=True)
    if as_json:
        summary: dict[str, Any] = {
            "folder": str(read.path),
            "verdict": found.state,
            "headline": found.headline,
            "holds": list(found.holds),
            "worst": by_worst(read.run),
            "notes": list(found.notes),
            "trials": read.run.trials,
            "findings": [
                {
                    "id": kept.finding.id,
                    "title": kept.finding.title,
                    "subject": kept.finding.subject,
                    "cloner": kept.finding.cloner,
                    "count": kept.finding.count,
                    "counts": kept.counts,
                    "folder": kept.name,
                }
                for kept in read.findings
            ],
            "unreadable": list(read.unreadable),
            "problems": list(read.problems),
            "written": [str(path) for path in written],
        }
        click.echo(json_text(summary))
    else:
        told = (*found.holds, *found.notes)
        lines = (found.headline, *(f"  {each}" for each in told), str(written[0]))
        click.echo("\n".join(visible(" ".join(each.splitlines())) for each in lines))
    sys.exit(found.exit_code)
