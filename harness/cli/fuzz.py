"""`clonediff fuzz`: draw graphs and try them until the budget is spent; keep what is found."""

from __future__ import annotations

import contextlib
import os
import sys
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any
from uuid import uuid4

import click
import psutil  # type: ignore[import-untyped]  # it comes without types

from clonediff.harness.campaign.campaign import Campaign
from clonediff.harness.campaign.corpus import NightlyCorpus
from clonediff.harness.campaign.pools import ClusterError, DaskPool, LocalPool, Pool
from clonediff.harness.campaign.record import Record
from clonediff.harness.campaign.shards import Setup
from clonediff.harness.cli import options as shared
from clonediff.harness.cli.campaign_text import CampaignText, say_run, summary
from clonediff.harness.cli.terminal import exit_code, say, say_json
from clonediff.harness.keras_12202 import RELEASE
from clonediff.harness.subjects.subject import Subject
from clonediff.harness.trials.cloners import absolute
from clonediff.reports.documents import write_reports
from clonediff.reports.known import KnownIssues, load
from clonediff.reports.reading import read_run
from clonediff.reports.records import AT_LEAST, Run
from clonediff.reports.run_folder import RunFolder
from clonediff.reports.verdict import verdict

MINUTES = 2.0
"""The budget where none is given."""
_GROUP = Path("/sys/fs/cgroup")
"""The control group (v2) of the container that this runs in."""
JOB = 3 << 29
"""The memory of a subject in a job, about: its process, and the one that runs its scripts."""
FAULTS = 3
"""The exit code where trials failed by a fault of clonediff, or tasks could not be done."""
_MINUTES = "Stop after so many minutes [2; no limit with --trials]."
_CORPUS = "The folder with the graphs of earlier findings, which are tried first [corpus, beside the run's folder]."
_LAYERS = "Draw these layers too: a module, a class in one, or path/to/file.py:Class. They are imported."


@click.command("fuzz")
@shared.subjects
@shared.cloners
@click.option("--minutes", type=click.FloatRange(0, 1e6, min_open=True), help=_MINUTES)
@click.option("--trials", type=click.IntRange(min=1), help="Stop after drawing this many graphs for each subject.")
@click.option("--seed", default=0, show_default=True, help="The same seed draws the same graphs.")
@click.option("--jobs", type=click.IntRange(1, 1024), help="How many graphs to try at once [as many as fit].")
@click.option("--scheduler", metavar="ADDRESS", help="The Dask scheduler of a cluster to run on, instead of here.")
@click.option("--out", type=click.Path(path_type=Path), help="The run's folder [runs/<time>].")
@shared.known_issues
@click.option("--corpus", type=click.Path(path_type=Path, file_okay=False), help=_CORPUS)
@click.option("--layers", multiple=True, metavar="NAME", help=_LAYERS)
@shared.at_least("Leave out what is less severe")
@shared.as_json("Print the summary as JSON.")
def command(known_issues: Path, out: Path | None, corpus: Path | None, as_json: bool, **options: Any) -> None:
    """Draw graphs and try them until the time is up.

    Every finding is made as small as possible and written to the run's folder with a script, which is run alone: if it
    should fail and does not, the finding does not count. What reports/known explains is counted, not reported. With
    --cloner module:function, the clones are made by a function of your own, which takes a model and returns its clone;
    the known issues are not used to explain what it does.

    Graphs are drawn for three quarters of the time; then each finding is made smaller, the smallest first. Ctrl-C ends
    the run and keeps what was found. The next run begins with the graphs of these findings. Where --out has an earlier
    run, that is kept beside it.

    Exit codes: 0 nothing new; 1 something new, or too many models could not be built; 2 nothing could be tried, or the
    cluster is gone; 3 clonediff itself failed on some models, which are kept, or could not do a task; 130 interrupted.
    """
    if options["subjects"] == (RELEASE,):
        from clonediff.harness.keras_12202 import exhibit

        shared.refuse_others(RELEASE, "--minutes", "--trials", "--seed", "--json")
        text, result, code = exhibit.fuzz(options["minutes"], options["trials"], options["seed"])
        say_json(result) if as_json else say(text)
        sys.exit(code)
    known = load(known_issues)
    setup, run = _setup(known, **options)
    folder = RunFolder(out)
    stored = NightlyCorpus((corpus or folder.path.parent / "corpus").absolute())
    with CampaignText(quiet=as_json) as watcher:
        record = Record(folder, run, stored, known, watcher.found, watcher.warn, watcher.progress)
        stored_graphs = {name: stored.graphs(Subject.parse(name).generation) for name in run.subjects}
        watcher.stored = sum(map(len, stored_graphs.values()))
        for problem in stored.problems:
            watcher.warn(problem)
        scheduler = options["scheduler"]
        jobs = options["jobs"] or jobs_here(len(run.subjects))
        pool: Pool = DaskPool(scheduler, setup) if scheduler else LocalPool(jobs, setup)
        run.jobs, gone = pool.jobs, False
        try:
            Campaign(stored_graphs, pool, record).run()
        except ClusterError:  # which the record has
            gone = True
        finally:
            pool.close()
    read = read_run(folder.path)
    write_reports(read, known)
    say_json(summary(read, known)) if as_json else say_run(read, known)
    if run.interrupted or gone or not run.total.trials:
        sys.exit(exit_code(interrupted=run.interrupted, failed=True))
    sys.exit(FAULTS if run.failures or run.total.faults else int(verdict(read).breaks))


def _setup(known: KnownIssues, minutes: float | None, trials: int | None, **options: Any) -> tuple[Setup, Run]:
    """What is tried, and the run's record."""
    layers = tuple(dict.fromkeys(map(absolute, options["layers"])))
    for name in layers:
        path = name if name.endswith(".py") else name.rpartition(":")[0]
        if path and not Path(path).is_file():
            raise click.UsageError(f"--layers {name}: there is no such file")
    run = Run(
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        subjects=tuple(str(Subject.parse(name)) for name in dict.fromkeys(options["subjects"])),
        seed=options["seed"],
        minutes=MINUTES if minutes is None and trials is None else minutes,
        trials=trials,
        at_least=AT_LEAST[options["at_least"]],
        clonediff=version("clonediff"),
    )
    cloners = tuple(dict.fromkeys(options["cloners"]))
    setup = Setup(uuid4().hex[:12], cloners, known=known.issues, layers=layers, at_least=run.at_least)
    return setup, run


def jobs_here(subjects: int) -> int:
    """The number of jobs that this machine, or its container, has CPUs and memory for, each with its subjects."""
    cpus, memory = float(len(os.sched_getaffinity(0))), float(psutil.virtual_memory().available)
    with contextlib.suppress(OSError, ValueError):  # the group of a machine has no limits, some containers "max"
        quota, period = map(int, (_GROUP / "cpu.max").read_text().split())
        cpus = min(cpus, quota / period)
    with contextlib.suppress(OSError, ValueError):
        most, used = (int((_GROUP / name).read_text()) for name in ("memory.max", "memory.current"))
        memory = min(memory, most - used)
    return max(1, int(min(cpus, memory / (JOB * subjects))))
