"""`clonediff fuzz`: draw graphs and try them until the budget is spent; keep what is found.

Owns the options, the plan that they become, and the exit code.
"""

from __future__ import annotations

import math
import sys
import time
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any
from uuid import uuid4

import click
import msgspec

from clonediff.harness.campaign.campaign import Campaign
from clonediff.harness.campaign.corpus import NightlyCorpus
from clonediff.harness.campaign.pools import DaskPool, LocalPool, Pool, jobs_here
from clonediff.harness.campaign.record import Record, Watcher
from clonediff.harness.campaign.shards import Plan, Setup
from clonediff.harness.cli import options as shared
from clonediff.harness.cli.terminal import json_text, lines
from clonediff.harness.keras_12202 import RELEASE
from clonediff.harness.source.other_layers import absolute, allow, file_of
from clonediff.harness.subjects.subject import Subject
from clonediff.reports.known import load
from clonediff.reports.reading import read_run
from clonediff.reports.records import AT_LEAST, Budget
from clonediff.reports.run_folder import RunFolder
from clonediff.reports.verdict import verdict
from clonediff.reports.writing import write_reports
from clonediff.strategies.graph import to_json

MINUTES = 2.0
"""The budget where none is given."""


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

    Three quarters of the time draw; then each finding is made smaller, the smallest first. Ctrl-C ends it and keeps
    what was found. The next run begins with the graphs of what was found.
    """
    if options["subjects"] == (RELEASE,):
        from clonediff.harness.keras_12202 import exhibit

        shared.refuse_others(RELEASE, "--minutes", "--trials", "--seed", "--json")
        text, record, code = exhibit.fuzz(options["minutes"], options["trials"], options["seed_"])
        click.echo(json_text(record) if as_json else lines(text))
        sys.exit(code)
    if options["minutes"] is not None and not math.isfinite(options["minutes"]):
        raise click.BadParameter("expected a number that has an end", param_hint="--minutes")
    from clonediff.harness.cli.text.campaign import CampaignText, result_text, summary

    began = time.monotonic()
    folder, plan, corpus = _plan(**options)
    watcher = CampaignText(plan, quiet=as_json)
    try:
        campaign, totals = _run(folder, plan, corpus, watcher, options["jobs"], options["scheduler"])
    finally:
        watcher.clear()
        folder.close()
    read = read_run(folder.path)
    write_reports(read)
    if as_json:
        click.echo(json_text(summary(campaign, totals, read, time.monotonic() - began)))
    else:
        click.echo(result_text(campaign, totals, read))
    if campaign.interrupted:
        sys.exit(130)
    if totals.lost or campaign.failures:
        sys.exit(2)
    sys.exit(1 if totals.new or verdict(read).mend else 0)


def _plan(
    subjects: tuple[str, ...],
    cloners: tuple[str, ...],
    minutes: float | None,
    trials: int | None,
    seed_: int,
    out: Path | None,
    known_issues: Path,
    corpus: Path | None,
    layers: tuple[str, ...],
    at_least: str,
    **_: Any,
) -> tuple[RunFolder, Plan, NightlyCorpus]:
    """A new run's folder, what is tried, and the corpus with the graphs that come first."""
    parsed = [Subject.parse(name) for name in dict.fromkeys(subjects)]
    known = load(known_issues)
    files = tuple(dict.fromkeys(map(absolute, layers)))
    for name in files:
        path = file_of(f"{name}:" if name.endswith(".py") else name)
        if path and not Path(path).is_file():
            raise click.UsageError(f"--layers {name}: there is no such file")
    allow(files)
    folder = RunFolder(out)
    kept = NightlyCorpus((corpus or folder.path.parent / "corpus").absolute())
    setup = Setup(
        campaign=uuid4().hex[:12],
        cloners=tuple(dict.fromkeys(cloners)),
        known=known.issues,
        layers=files,
        at_least=AT_LEAST[at_least],
        clonediff=version("clonediff"),
    )
    plan = Plan(
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        subjects=tuple(map(str, parsed)),
        setup=setup,
        seed=seed_,
        budget=Budget(MINUTES) if minutes is None and trials is None else Budget(minutes, trials),
        first={
            str(subject): tuple(msgspec.Raw(to_json(graph)) for graph in kept.graphs(subject.generation))
            for subject in parsed
        },
    )
    return folder, plan, kept


def _run(
    folder: RunFolder, plan: Plan, corpus: NightlyCorpus, watcher: Watcher, jobs: int | None, scheduler: str | None
) -> tuple[Campaign, Record]:
    """Run a campaign. However it ends, what was found is in the folder."""
    pool: Pool = DaskPool(scheduler, plan.setup.campaign) if scheduler else LocalPool(jobs or jobs_here())
    try:
        record = Record(folder, plan, corpus, len(pool.executors), watcher)
        campaign = Campaign(plan, pool, record)
        campaign.run()
        folder.event("end", interrupted=campaign.interrupted, trials=record.drawn.trials)
        record.write(ended=True, interrupted=campaign.interrupted)
    finally:
        pool.close()
        for problem in corpus.problems:
            watcher.warn(problem)
    return campaign, record
