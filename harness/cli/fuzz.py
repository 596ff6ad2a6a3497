"""`clonediff fuzz`: draw graphs and try them until the budget is spent; keep what is found.

Owns the options and the exit code. What they ask for becomes a plan, which
`clonediff.harness.campaign.session` carries out.
"""

from __future__ import annotations

import dataclasses
import math
import sys
from pathlib import Path
from typing import Any

import click

from clonediff.harness.cli import options as shared
from clonediff.harness.cli.terminal import json_text, lines
from clonediff.harness.keras_12202 import RELEASE


class _Jobs(click.ParamType):  # type: ignore[type-arg]  # generic in the newest click only
    name = "N|auto"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | None:
        if value is None or isinstance(value, int) or value == "auto":
            return None if value == "auto" else value
        try:
            number = int(value)
        except ValueError:
            self.fail(f"expected a number or auto, found {value!r}", param, ctx)
        if not 1 <= number <= 1024:
            self.fail(f"expected 1 to 1024, found {number}", param, ctx)
        return number


@click.command("fuzz")
@shared.subjects("What to try.")
@shared.cloners
@click.option("--minutes", type=click.FloatRange(min=0, min_open=True), help="Stop drawing after this long [2].")
@click.option("--trials", type=click.IntRange(min=1), help="Stop after drawing this many graphs for each subject.")
@click.option("--seed", "seed_", default=0, show_default=True, help="The same seed draws the same graphs.")
@click.option("--jobs", type=_Jobs(), default="auto", show_default=True, help="How many graphs to try at once.")
@click.option("--scheduler", metavar="ADDRESS", help="The Dask scheduler of a cluster to run on, instead of here.")
@shared.out_folder
@shared.known_issues
@click.option(
    "--corpus",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where the graphs of earlier findings are kept, which are tried first [corpus, beside the run's folder].",
)
@click.option(
    "--layers",
    multiple=True,
    metavar="NAME",
    help="Draw these layers too: a module, a class in one, or path/to/file.py:Class. They are imported.",
)
@shared.at_least("Leave out what is less severe")
@shared.as_json("Print the summary as JSON.")
def command(as_json: bool, **options: Any) -> None:
    """Draw graphs and try them until the budget is spent; keep what is found.

    Every finding is made as small as it gets and written to the run's folder with a script. A script against upstream
    is plain Keras, and is run on its own: if it should fail and does not, the finding does not count. What
    reports/known explains is counted, not reported. A release that is not there is installed; a subject
    that cannot be had is told, the others are tried, and the exit code is 2. What of --layers, or of Keras' own, no
    call was ever accepted of is named at the end, with the exception. What is less severe than --at-least is no
    finding, and a graph with nothing else is not counted as unfaithful; how many there were is said.

    With --cloner module:function a function of your own clones, which takes a model and gives its clone. A module is
    looked for in the current folder first. What upstream's known issues explain is new of such a cloner.

    Ctrl-C once finishes what is under way and keeps everything; twice ends it now, and still keeps what was found.
    The next run begins with the graphs of what was found.
    """
    if options["subjects"] == (RELEASE,):
        from clonediff.harness.keras_12202 import exhibit

        shared.refuse_others(RELEASE, "--minutes", "--trials", "--seed", "--json")
        text, record, code = exhibit.fuzz(options["minutes"], options["trials"], options["seed_"])
        click.echo(json_text(record) if as_json else lines(text))
        sys.exit(code)
    from clonediff.harness.campaign import session
    from clonediff.harness.cli.text.campaign import CampaignText, result_text

    if options["minutes"] is not None and not math.isfinite(options["minutes"]):
        raise click.BadParameter("expected a number that has an end", param_hint="--minutes")
    planned = {field.name for field in dataclasses.fields(session.CampaignOptions)}
    where = session.WorkersWanted(**{name: each for name, each in options.items() if name not in planned})
    try:
        asked = session.CampaignOptions(**{name: options[name] for name in planned})
        began = session.begin(asked, where)
    except session.MistakenError as error:
        raise click.UsageError(str(error)) from None
    result = session.run(began, where, lambda plan, totals: CampaignText(plan, totals, quiet=as_json))
    click.echo(json_text(result.summary) if as_json else result_text(result))
    sys.exit(result.exit_code)
