"""`clonediff fuzz`: draw graphs and try them until the time is up; write findings."""

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
from clonediff.harness.cli.campaign_text import CampaignProgress, say_run, summary
from clonediff.harness.cli.terminal import exit_code, say, say_json
from clonediff.harness.keras_12202 import RELEASE
from clonediff.harness.subjects.subject import Subject
from clonediff.harness.trials.cloners import absolute_name
from clonediff.reports.documents import write_reports
from clonediff.reports.known import KnownIssues, load
from clonediff.reports.records import SEVERITIES, Run
from clonediff.reports.run_folder import RunFolder, read_run
from clonediff.reports.verdict import verdict

DEFAULT_MINUTES = 2.0
_CGROUP = Path("/sys/fs/cgroup")
"""The control group (v2) of this container."""
MEMORY_PER_SUBJECT = 3 << 29
"""The bytes that a job needs for each subject: its child process and scripts."""
CLONEDIFF_FAILED = 3
"""The exit code if clonediff itself failed on a graph or a task."""
_MINUTES_HELP = "Stop after this many minutes [2; no limit with --trials]."
_CORPUS_HELP = "A folder with the graphs of earlier findings, to try first [corpus, next to the folder of the run]."
_LAYERS_HELP = "Also draw these layers: a module, a class of a module, or path/to/file.py:Class. They are imported."


@click.command("fuzz")
@shared.subjects
@shared.cloners
@click.option("--minutes", type=click.FloatRange(0, 1e6, min_open=True), help=_MINUTES_HELP)
@click.option("--trials", type=click.IntRange(min=1), help="Stop after drawing this many graphs for each subject.")
@click.option("--seed", default=0, show_default=True, help="The same seed draws the same graphs.")
@click.option("--jobs", type=click.IntRange(1, 1024), help="How many graphs to try at once [as many as fit].")
@click.option("--scheduler", metavar="ADDRESS", help="The Dask scheduler of a cluster that tries the graphs.")
@click.option("--out", type=click.Path(path_type=Path), help="The folder of the run [runs/<time>].")
@shared.known_issues
@click.option("--corpus", type=click.Path(path_type=Path, file_okay=False), help=_CORPUS_HELP)
@click.option("--layers", multiple=True, metavar="NAME", help=_LAYERS_HELP)
@shared.at_least("Leave out less severe causes")
@shared.as_json("Print the summary as JSON.")
def command(known_issues: Path, out: Path | None, corpus: Path | None, as_json: bool, **options: Any) -> None:
    """Draw graphs and try them until the time is up.

    Each finding is reduced and written with a script to the folder of the run. The script is run alone: if it does not
    fail, the finding does not count. Causes that known issues explain are counted, and not written. --cloner
    module:function names your own cloner, a function that takes a model and returns its clone; known issues do not
    explain its causes.

    Graphs are drawn for three quarters of the time; then findings are reduced, the smallest first. Ctrl-C ends the run
    and keeps the findings. The next run starts with their graphs. If --out has an earlier run, its folder is renamed.

    Exit codes: 0 nothing new; 1 a new finding, or too many graphs could not be built; 2 nothing could be tried, or the
    cluster is gone; 3 clonediff itself failed on some graphs (kept in faults/), or on a task; 130 interrupted.
    """
    if options["subjects"] == (RELEASE,):
        from clonediff.harness.keras_12202 import old_keras

        shared.refuse_other_options(RELEASE, "--minutes", "--trials", "--seed", "--json")
        text, result, code = old_keras.fuzz(options["minutes"], options["trials"], options["seed"])
        say_json(result) if as_json else say(text)
        sys.exit(code)
    known = load(known_issues)
    setup, run = _setup(known, **options)
    folder = RunFolder(out)
    nightly_corpus = NightlyCorpus((corpus or folder.path.parent / "corpus").absolute())
    with CampaignProgress(quiet=as_json) as progress:
        record = Record(folder, run, nightly_corpus, known, progress.say_finding, progress.warn, progress.show_progress)
        stored_graphs = {name: nightly_corpus.graphs(Subject.parse(name).generation) for name in run.subjects}
        progress.corpus_size = sum(map(len, stored_graphs.values()))
        for problem in nightly_corpus.problems:
            progress.warn(problem)
        scheduler = options["scheduler"]
        jobs = options["jobs"] or possible_jobs(len(run.subjects))
        pool: Pool = DaskPool(scheduler, setup) if scheduler else LocalPool(jobs, setup)
        run.jobs, cluster_gone = pool.jobs, False
        try:
            Campaign(stored_graphs, pool, record).run()
        except ClusterError:  # the record has its message
            cluster_gone = True
        finally:
            pool.close()
    stored_run = read_run(folder.path)
    write_reports(stored_run, known)
    say_json(summary(stored_run, known)) if as_json else say_run(stored_run, known)
    if run.interrupted or cluster_gone or not run.total.trials:
        sys.exit(exit_code(interrupted=run.interrupted, failed=True))
    sys.exit(CLONEDIFF_FAILED if run.failures or run.total.faults else int(verdict(stored_run).fails))


def _setup(known: KnownIssues, minutes: float | None, trials: int | None, **options: Any) -> tuple[Setup, Run]:
    layers = tuple(dict.fromkeys(map(absolute_name, options["layers"])))
    for name in layers:
        path = name if name.endswith(".py") else name.rpartition(":")[0]
        if path and not Path(path).is_file():
            raise click.UsageError(f"--layers {name}: there is no such file; correct the path")
    run = Run(
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        subjects=tuple(str(Subject.parse(name)) for name in dict.fromkeys(options["subjects"])),
        seed=options["seed"],
        minutes=DEFAULT_MINUTES if minutes is None and trials is None else minutes,
        trials=trials,
        at_least=SEVERITIES[options["at_least"]],
        clonediff=version("clonediff"),
    )
    cloners = tuple(dict.fromkeys(options["cloners"]))
    setup = Setup(uuid4().hex[:12], cloners, known=known.issues, layers=layers, at_least=run.at_least)
    return setup, run


def possible_jobs(subject_count: int) -> int:
    """How many jobs this machine's or container's CPUs and memory allow."""
    cpus, memory = float(len(os.sched_getaffinity(0))), float(psutil.virtual_memory().available)
    with contextlib.suppress(OSError, ValueError):  # there is no limit, or it is "max"
        quota, period = map(int, (_CGROUP / "cpu.max").read_text().split())
        cpus = min(cpus, quota / period)
    with contextlib.suppress(OSError, ValueError):
        limit, used = (int((_CGROUP / name).read_text()) for name in ("memory.max", "memory.current"))
        memory = min(memory, limit - used)
    return max(1, int(min(cpus, memory / (MEMORY_PER_SUBJECT * subject_count))))
