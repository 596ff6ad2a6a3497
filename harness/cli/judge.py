"""`clonediff judge`: try a proposed fix of `clone_model`, or a change to Keras."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click
import msgspec

from clonediff.harness.cli import options as shared
from clonediff.harness.cli.terminal import Progress, exit_code, say, say_json
from clonediff.harness.judge.judging import Baseline, JudgeVerdict, diff_of, judge
from clonediff.harness.judge.proposals import ProposalError
from clonediff.harness.judge.verdict_text import comment, terminal_lines
from clonediff.harness.keras_12202 import RELEASE
from clonediff.harness.subjects.releases import search_path_of, subjects_of_change
from clonediff.harness.subjects.subject import Subject
from clonediff.reports.known import load
from clonediff.reports.records import SEVERITIES

_MINUTES_HELP = "Draw models for this many minutes [0.13; 1 with --repo]."


@click.command("judge")
@click.argument("files", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="[FILE...]")
@click.option("--series", is_flag=True, help="Apply the FILEs one after another, and list what each fixes.")
@click.option("--fixes", metavar="ID", multiple=True, help="A known issue that FILE should fix [see its header].")
@click.option("--as-diff", is_flag=True, help="Print all FILEs as one diff against the release, and try nothing.")
@click.option("--tests", is_flag=True, help="Run Keras' own tests of changed modules; --subject must be a checkout.")
@click.option("--repo", metavar="FOLDER", help="Judge a change in a checkout: ../keras, or ../keras/jax to use JAX.")
@click.option("--base", metavar="BRANCH", help="Compare with the commit where the change left this branch.")
@click.option("--head", metavar="BRANCH", help="The branch or commit with the change [the working tree].")
@click.option("--markdown", is_flag=True, help="Print the verdict on a change as Markdown, for its pull request.")
@shared.subject("The release that FILE changes [keras].")
@click.option("--minutes", type=click.FloatRange(min=0), help=_MINUTES_HELP)
@click.option("--trials", type=click.IntRange(min=0), help="Draw at most this many models [400].")
@click.option("--seed", default=0, show_default=True, help="The seed of the drawn models.")
@shared.at_least("Ignore less severe regressions", default="wrong-training")
@shared.as_json("Print the verdicts as JSON, with a script for each cause.")
def command(
    files: tuple[Path, ...], repo: str | None, base: str | None, head: str | None, as_json: bool, **options: Any
) -> None:
    """Try proposed fixes of clone_model, or a change to Keras.

    FILE is a Python file, a unified diff against the release, or a text with code blocks, such as an answer from a
    forum or from a language model. Its definitions replace definitions of the release; --as-diff shows how. Its code
    runs in processes with limits of time and memory, but with all your permissions: read it first.

    Each fix is tried on the scripts and models of the known issues, and on drawn models, and compared with the release.
    A regression is a cause that the release does not show: something broke that worked, or an exception became a wrong
    clone. --repo and --base judge a change to Keras: they compare the head with the commit where it left the base.

    Exit codes: 0 no regressions, and each FILE fixes what it should; 1 otherwise; 2 the command failed; 130
    interrupted.
    """
    subject, trials, seed, minutes = (options[name] for name in ("subject", "trials", "seed", "minutes"))
    if subject == RELEASE and files:
        from clonediff.harness.keras_12202 import old_keras

        shared.refuse_other_options(RELEASE, "--trials", "--seed", "--json")
        text, result, code = old_keras.judge(files, trials, seed)
        say_json(result) if as_json else say(text)
        sys.exit(code)
    is_change = repo is not None and base is not None
    if is_change == bool(files) or (options["markdown"] and not is_change):
        raise click.UsageError("name either FILEs to judge, or a change: --repo FOLDER --base BRANCH [--head BRANCH]")
    file_options = [name for name in ("subject", "series", "as_diff", "tests") if options[name]]
    if is_change and file_options:
        name = file_options[0].replace("_", "-")
        advice = "; choose the backend of a change as in --repo ../keras/jax" if name == "subject" else ""
        raise click.UsageError(f"--{name} needs proposed fixes (FILE...){advice}")
    known = load()
    for id_ in options["fixes"]:
        if known.get(id_) is None:
            raise click.UsageError(f"--fixes {id_}: no known issue has that id; see reports/known/README.md")
    texts = {str(file): file.read_text("utf-8-sig", "replace") for file in files}
    release = Subject.parse(subject or "keras")
    if options["as_diff"]:
        try:
            say(diff_of(texts, release))
        except ProposalError as error:
            raise click.UsageError(str(error)) from error
        return
    seconds = int(60 * minutes) if minutes is not None else 60 if is_change else 8
    models, at_least = 400 if trials is None else trials, SEVERITIES[options["at_least"]]
    verdicts: list[JudgeVerdict] = []
    changed: Subject | None = None
    with Progress(quiet=as_json) as progress:
        if repo is not None and base is not None:
            release, changed = subjects_of_change(repo, base, head)
            progress.show("starting Keras with and without the change")
        baseline = Baseline(release, known, progress.show, at_least, seconds=seconds, models=models, seed=seed)
        groups = [texts] if options["series"] else [{name: text} for name, text in texts.items()]
        with baseline.process:
            if changed is not None:
                verdict = JudgeVerdict(str(changed), str(release), should_fix=options["fixes"])
                verdicts.append(baseline.judge(verdict, changed, search_path_of(changed)))
            for proposals in groups:
                for verdict in judge(proposals, baseline, options["fixes"], tests=options["tests"]):
                    verdicts.append(verdict)
                    if not as_json:
                        progress.say(terminal_lines(verdict, series=len(proposals) > 1))
    passes = [verdict.summary == "passes" for verdict in verdicts]
    if as_json:
        pairs = zip(verdicts, passes, strict=True)
        say_json(
            [{**msgspec.to_builtins(item), "summary": item.summary, "passes": is_passing} for item, is_passing in pairs]
        )
    elif is_change:
        say(comment(verdicts[0]) if options["markdown"] else terminal_lines(verdicts[0]))
    sys.exit(exit_code(breaks=not all(passes)))
