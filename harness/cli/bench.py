"""`clonediff bench`: what a trial costs, phase by phase, and how that compares.

Owns the options and how the figures are printed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from clonediff.harness.campaign.bench_sizes import PATIENT, size_speed
from clonediff.harness.campaign.bench_trials import EARLY, LAYERS, trial_speed
from clonediff.harness.cli import options as shared
from clonediff.harness.cli.terminal import StatusLine, about_left, json_text
from clonediff.harness.cli.text.sizes import sizes_picture, sizes_text
from clonediff.harness.subjects.case import RATE
from clonediff.harness.subjects.releases import open_subject
from clonediff.harness.subjects.subject import Subject
from clonediff.reports.records import write_bytes


@click.command("bench")
@click.option(
    "--subject",
    type=shared.SubjectName(),
    default="keras",
    show_default=True,
    help="What to time: keras, tf_keras, keras/jax ...",
)
@click.option(
    "--graphs", "count", type=click.IntRange(min=1), default=150, show_default=True, help="How many graphs the set has."
)
@click.option(
    "--trials", type=click.IntRange(min=1), default=None, help="Trials to run, over the set again and again [once]."
)
@click.option("--seed", "seed_", default=0, show_default=True, help="The seed of the set.")
@click.option(
    "--rate",
    type=click.IntRange(min=0),
    default=RATE,
    show_default=True,
    help="Time the costly checks on one graph in N; 0 for none.",
)
@click.option(
    "--jobs",
    type=click.IntRange(min=2),
    default=None,
    help="Time campaigns instead: of one job, and of this many, beside trials with nothing around them.",
)
@click.option(
    "--sizes", is_flag=True, help="Time models of 5 to 2,000 layers instead, nested ones, and layers called often."
)
@click.option("--largest", type=click.IntRange(min=2), default=None, help="With --sizes, leave out what is larger.")
@click.option(
    "--picture", "file", type=click.Path(path_type=Path, dir_okay=False), help="With --sizes, draw them: FILE.svg."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    subject: str,
    count: int,
    trials: int | None,
    seed_: int,
    rate: int,
    jobs: int | None,
    sizes: bool,
    largest: int | None,
    file: Path | None,
    as_json: bool,
) -> None:
    """Time a trial, phase by phase, beside the harness that one would write first.

    Building, cloning, calling, reading configs and setting weights are Keras' own code; all else is ours. The first
    harness builds, clones, copies the weights, calls `predict` on both and compares with `allclose`; its time is held
    against ours on the graphs that it can finish. Each has a process of its own, whose start does not count.

    With --sizes: what building takes, upstream's clone, fixed's, observing and each check, over the number of layers,
    the depth of nesting and the calls of one layer, and how fast each of them grows.
    """
    if not sizes and (largest is not None or file is not None):
        raise click.UsageError("--largest and --picture are for --sizes")
    if sizes:
        _sizes(subject, largest, file, as_json)
        return
    if jobs is not None:
        _campaigns(subject, jobs, trials, as_json)
        return
    summary = trial_speed(
        Subject.parse(subject),
        count,
        trials=trials,
        seed_=seed_,
        rate=rate,
        say=lambda line: None if as_json else click.echo(line, err=True),
    )
    click.echo(json_text(summary) if as_json else _table(summary))


def _sizes(subject: str, largest: int | None, file: Path | None, as_json: bool) -> None:
    status = StatusLine(quiet=as_json)
    status.show(f"starting {subject}")
    with open_subject(Subject.parse(subject), limits=PATIENT) as process:
        found = size_speed(process, largest, lambda at, left: status.show(f"{at}{about_left(left)}", now=True))
    status.clear()
    if file is not None:
        write_bytes(file, sizes_picture(found).encode())
    if as_json:
        click.echo(json_text(found))
        return
    click.echo("\n".join(sizes_text(found)))
    if file is not None:
        status.note(f"picture: {file}")


def _campaigns(subject: str, jobs: int, trials: int | None, as_json: bool) -> None:
    from clonediff.harness.campaign.bench_campaigns import DEFAULT, campaign_speed, fewest_trials

    least = fewest_trials(jobs)
    if trials is not None and trials < least:
        raise click.BadParameter(f"with {jobs} jobs, expected at least {least}, found {trials}", param_hint="--trials")
    found = campaign_speed(subject, jobs, trials or max(DEFAULT, least), lambda line: click.echo(line, err=True))
    if as_json:
        click.echo(json_text(found))
        return
    click.echo(f"a campaign of one job makes {found['one_job_of_plain']:.2f} of the trials a second of plain trials,")
    click.echo(f"one of {jobs} jobs {found['jobs_of_one_job']:.2f} times those of one job,")
    click.echo(f"which is {found['jobs_of_plain_times_jobs']:.2f} of {jobs} times plain trials")


def _table(summary: dict[str, Any]) -> str:
    lines = [
        f"{summary['subject']} {summary['keras']} on {summary['backend']}, {summary['trials']} trials, "
        f"graphs of {LAYERS[0]} to {LAYERS[1]} layers, cloners upstream and fixed",
        "",
        f"a trial                        {summary['trial_ms']:8.2f} ms   {summary['trials_per_second']:.1f} a second",
        f"  drawing                      {summary['draw_ms']:8.2f} ms   {summary['share_of_drawing']:.1%}",
        f"  source                       {summary['source_ms']:8.2f} ms",
    ]
    lines += [f"  Keras: {name:22}{value:8.2f} ms" for name, value in summary["keras_ms"].items()]
    lines += [f"  ours:  {name:22}{value:8.2f} ms" for name, value in summary["ours_ms"].items()]
    lines += [f"    check {name:21}{value:8.2f} ms" for name, value in summary["checks_ms"].items()]
    lines += [
        f"outside Keras                  {summary['share_outside_keras']:8.1%}",
        f"added by the subject's process {summary['added_by_process_ms']:8.2f} ms",
        f"the subject is ready in        {summary['ready_seconds']['spawn']:8.2f} s, once",
        "",
        f"the harness with predict       {summary['predict_harness_ms']['trial']:8.2f} ms   on the "
        f"{summary['predict_harness_graphs']} graphs that it finishes; it crashes on "
        f"{summary['predict_harness_crashed']}",
        f"ours on the same graphs        {summary['same_graphs_trial_ms']:8.2f} ms   "
        f"{summary['ratio_to_predict_harness']:.1f} times the trials a second, "
        f"{summary['ratio_to_predict_harness_cpu']:.1f} times those a second of the processor",
    ]
    if summary["costly_trial_ms"] is not None:
        lines.append(
            f"a trial with the costly checks {summary['costly_trial_ms']:8.2f} ms   again, training, saving; "
            f"fuzz and pytest give them to one graph in {RATE}"
        )
    if summary["resident_growth"] is not None:
        lines.append(f"resident memory, trial {EARLY} to the end: {summary['resident_growth']:+.1%}")
    return "\n".join(lines)
