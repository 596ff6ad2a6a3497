"""`clonediff real`: models that nobody here wrote, through upstream and fixed, and the table of what came of them.

Owns the arguments, the progress, the files of results and the exit code.
"""

from __future__ import annotations

import importlib.metadata
import sys
import time
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import click
from msgspec.structs import replace

from clonediff.harness.answers.checked_model.looking import CheckWanted
from clonediff.harness.answers.real_models import jobs as model_jobs
from clonediff.harness.answers.real_models.recipes import Recipe
from clonediff.harness.answers.real_models.results import RealModel, RealResults, is_fault
from clonediff.harness.answers.real_models.suites import SelectionError, selected, suites
from clonediff.harness.answers.real_models.table import markdown
from clonediff.harness.cli import options as shared
from clonediff.harness.cli.terminal import StatusLine, about_left, json_text
from clonediff.harness.cli.text.real import Rows, totals_text
from clonediff.harness.subjects.warm_child import Limits
from clonediff.reports.known import load
from clonediff.reports.markup import one_line
from clonediff.reports.records import read, write, write_bytes


@click.command("real")
@click.option("--only", "only", multiple=True, metavar="PATTERN", help="Models by name, such as 'keras_hub:Bert*'.")
@click.option("--list", "list_", is_flag=True, help="Name the models and try none.")
@click.option("--jobs", type=click.IntRange(1, 64), default=1, show_default=True, help="How many models at once.")
@click.option("--timeout", type=click.FloatRange(min=1), default=300.0, show_default=True, help="Seconds for a model.")
@click.option("--memory", type=click.FloatRange(min=0.5), help="GiB for a job [four fifths of what is free].")
@click.option(
    "--costly/--no-costly", default=True, show_default=True, help="A second clone and a training step as well."
)
@click.option("--seed", default=0, show_default=True, help="The seed of weights and inputs.")
@shared.out_file("The results as JSON, written after each model [runs/real-<time>.json].")
@click.option(
    "--resume",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Go on with the results in FILE: what is in there is not tried again.",
)
@click.option("--table", type=click.Path(path_type=Path, dir_okay=False), help="Write the table in Markdown.")
@shared.known_issues
@shared.as_json("Print the results as JSON.")
def command(
    only: tuple[str, ...],
    list_: bool,
    jobs: int,
    timeout: float,
    memory: float | None,
    costly: bool,
    seed: int,
    out: Path | None,
    resume: Path | None,
    table: Path | None,
    known_issues: Path,
    as_json: bool,
) -> None:
    """Clone real models: those of Keras, of keras_hub, of tensorflow-model-optimization, and of Keras' own tests.

    They have random weights and are small where their makers let them; nothing is downloaded. It takes what `pip
    install 'clonediff[real]'` installs. A model that fails to be built, hangs or takes too much memory is told, and
    the others are tried. Results are kept after each model, also where this is interrupted.

    Exit codes: 0 fixed is faithful on every model, or refuses it with a reason; 1 it makes something else of one; 2
    the command could not do its work; 130 interrupted.
    """
    if resume is not None and out is not None:
        raise click.UsageError("--resume or --out: what was begun is gone on with in its own file")
    now = datetime.now(UTC).isoformat(timespec="seconds").removesuffix("+00:00")
    before = RealResults(now) if resume is None else read(resume, RealResults)
    known = load(known_issues)
    limit = shared.memory_limit(memory, jobs)
    wanted = CheckWanted(costly=costly, seed=seed, seconds=timeout, processes=1)
    limits = model_jobs.limits_of(wanted, limit)
    status = StatusLine(quiet=as_json and not sys.stderr.isatty())
    try:
        chosen = _chosen(only, limits, status)
    except SelectionError as error:
        raise click.UsageError(str(error)) from None
    if list_:
        click.echo("\n".join(f"{each.name}  {one_line(each.unable)}".rstrip() for each in chosen))
        return
    file = resume or out or Path("runs") / f"real-{before.began.replace(':', '-')}.json"
    run = _Run(chosen, before, file, status, quiet=as_json)
    try:
        run.take(model_jobs.try_all(run.left, wanted, limits, known, run.at, jobs=jobs))
    except KeyboardInterrupt:
        run.interrupt()
    if table is not None:
        write_bytes(table, markdown(run.results.models).encode())
    if as_json:
        click.echo(json_text(run.results))
    run.end(table)
    sys.exit(_code(run.results))


def _code(results: RealResults) -> int:
    """Where nothing could be tried, nothing has been shown."""
    if results.interrupted:
        return 130
    if any(map(is_fault, results.models)):
        return 1
    return 0 if any(each.tried for each in results.models) else 2


def _chosen(only: Sequence[str], limits: Limits, status: StatusLine) -> list[Recipe]:
    """The recipes that are asked for. Which there are, a process of each subject is asked."""
    there: list[Recipe] = []
    wanted = suites(only)
    for subject in dict.fromkeys(each.subject for each in wanted):
        status.show(f"starting {subject}", now=True)
        with model_jobs.started(subject, limits) as process:
            for suite in wanted:
                there += suite.recipes(process) if suite.subject == subject else ()
    status.clear()
    return selected(there, only)


class _Run:
    """What is printed and kept as results come, in the order of the recipes."""

    def __init__(
        self, recipes: Sequence[Recipe], before: RealResults, file: Path, status: StatusLine, *, quiet: bool
    ) -> None:
        sources = {each.name: each.source for each in recipes}
        kept = [each for each in before.models if sources.get(each.name, each.source) == each.source]
        done = {each.name for each in kept}
        self.left = [each for each in recipes if each.name not in done]
        self.results = replace(
            before, models=tuple(kept), interrupted=False, clonediff=importlib.metadata.version("clonediff")
        )
        self._places = {each.name: place for place, each in enumerate(recipes)}
        self._before = before.seconds
        self._file = file
        self._status = status
        self._quiet = quiet
        self._came = 0
        self._began = time.monotonic()
        self._rows = Rows(recipes)

    def at(self, where: str) -> None:
        """Show where a job is."""
        left = len(self.left) - self._came
        seconds = (time.monotonic() - self._began) / self._came * left if self._came else 0.0
        self._status.show(lambda: f"{self._came} of {len(self.left)} done{about_left(seconds)}; {where}")

    def take(self, models: Iterable[RealModel]) -> None:
        """Print and keep each model as it comes."""
        self._say(self._rows.head())
        for each in models:
            self._came += 1
            self._say(self._rows.of(each))
            everything = [*self.results.models, each]
            everything.sort(key=lambda its: self._places.get(its.name, -1))
            self.results = replace(self.results, models=tuple(everything))
            self._keep()

    def interrupt(self) -> None:
        """Keep what came."""
        self._keep(interrupted=True)
        self._status.say("interrupted", error=True)

    def end(self, table: Path | None) -> None:
        """The totals, and where everything is kept."""
        self._status.clear()
        self._say("\n".join(("", *totals_text(self.results.models, self.results.seconds))))
        self._status.note(f"results: {self._file}" + (f", table: {table}" if table else ""))

    def _say(self, text: str) -> None:
        if not self._quiet:
            self._status.say(text)

    def _keep(self, *, interrupted: bool = False) -> None:
        seconds = self._before + time.monotonic() - self._began
        self.results = replace(self.results, seconds=seconds, interrupted=interrupted)
        write(self._file, self.results)
