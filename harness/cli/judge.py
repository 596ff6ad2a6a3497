"""`clonediff judge`: proposed fixes of `clone_model`, put in the place of the release's own and tried.

Owns the options, the progress and the exit code.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import click
import msgspec
from click.core import ParameterSource

from clonediff.harness.cli import options as shared
from clonediff.harness.cli.terminal import StatusLine, about_left, json_text, lines
from clonediff.harness.cli.text.judge import judged_text
from clonediff.harness.judge.change_text import change_lines, change_markdown
from clonediff.harness.judge.patching import find_git
from clonediff.harness.judge.reading import Proposal, UnreadableError, read_proposal, read_text
from clonediff.harness.judge.releases import is_release, proposal_of
from clonediff.harness.judge.session import JudgeSession
from clonediff.harness.judge.trying import JudgeBudget
from clonediff.harness.judge.two_trees import TwoTrees
from clonediff.harness.keras_12202 import RELEASE
from clonediff.harness.subjects.outcomes import CloningFunctions
from clonediff.harness.subjects.releases import place_of, split
from clonediff.harness.subjects.releases.git import parting, whole_name
from clonediff.harness.subjects.subject import BACKENDS, Subject
from clonediff.reports.known import KNOWN_ISSUES, load
from clonediff.reports.records import Run, write, write_bytes
from clonediff.reports.run_folder import RunFolder
from clonediff.reports.verdict import in_words


@click.command("judge")
@click.argument("files", nargs=-1, metavar="[FILE...]")
@click.option("--repo", metavar="FOLDER", help="Judge a change of this repository, such as ../keras or ../keras/jax.")
@click.option("--base", metavar="BRANCH", help="What the change is against: the commit where it left this branch.")
@click.option("--head", metavar="BRANCH", help="The branch or commit with the change [the folder, as it is].")
@click.option("--markdown", is_flag=True, help="Print what a change does as a comment for its pull request.")
@click.option(
    "--subject",
    "subject_name",
    type=shared.SubjectName(),
    default="keras",
    show_default=True,
    help="The release to be fixed, or a tree.",
)
@click.option(
    "--minutes",
    type=click.FloatRange(min=0),
    help="Draw fresh graphs this long for each candidate [8 seconds], or for a change [1].",
)
@click.option("--trials", type=click.IntRange(min=0), help="Draw at most this many for each candidate [400].")
@click.option("--seed", "seed_", default=0, show_default=True, help="The seed of the fresh graphs.")
@shared.at_least("What is less severe is said, and is no reason to fail", default="trains")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="The folder of what was found [runs/<time>; of a change, nothing is written without --out].",
)
@shared.as_json("Print the verdicts as JSON.")
def command(
    files: tuple[str, ...],
    repo: str | None,
    base: str | None,
    head: str | None,
    markdown: bool,
    subject_name: str,
    minutes: float | None,
    trials: int | None,
    seed_: int,
    at_least: str,
    out: Path | None,
    as_json: bool,
) -> None:
    """Try proposed fixes of clone_model in the place of the release's own code, or a change of Keras.

    FILE is a Python file, a unified diff against the release, or a text with code blocks, such as an answer from a
    forum or from a model. A release's name, such as keras==3.14.1, stands for its cloning functions. Nothing in a file
    is run in this process, but in one with limits of time and memory.

    Each is tried on the regression from the bug report, the corpus of known graphs, and fresh ones. What crashes,
    computes something else or trains differently comes first, and speaks against it; what loses a property or a name
    comes after, and does so where --at-least says so. Exit code 0: all hold. 1: one does not.

    With --repo and --base, a change of Keras is judged instead: the commit where it left the base, and the head, are
    tried on the same graphs. What it makes worse comes first, which is what the head breaks, twice, and the base does
    not; then what only loses a property or a name, the known issues that it mends, and those that it leaves. Exit code
    0: nothing is worse that --at-least counts. 1: something is, or not everything could be tried.
    """
    if subject_name == RELEASE and files:
        from clonediff.harness.keras_12202 import exhibit

        shared.refuse_others(RELEASE, "--trials", "--seed", "--json")
        text, exhibited, code = exhibit.judge([Path(name) for name in files], trials, seed_)
        click.echo(json_text(exhibited) if as_json else lines(text))
        sys.exit(code)
    if as_json and markdown:
        raise click.UsageError("--json and --markdown are two forms of one answer: give one of them")
    if repo is not None or base is not None or head is not None:
        if repo is None or base is None or files:
            raise click.UsageError("a change is judged by --repo FOLDER --base BRANCH [--head BRANCH], without a FILE")
        if click.get_current_context().get_parameter_source("subject_name") is ParameterSource.COMMANDLINE:
            raise click.UsageError("--subject is for a FILE: name the backend of a change as in --repo ../keras/jax")
        seconds = 60.0 * (minutes if minutes is not None else 1.0 if trials is None else 10.0)
        budget = JudgeBudget(seconds, 1_000_000 if trials is None else trials, seed_)
        sys.exit(_judge_change(repo, base, head, budget, at_least, out, as_json=as_json, markdown=markdown))
    if markdown:
        raise click.UsageError("--markdown is for a change: give --repo and --base")
    if not files:
        raise click.UsageError("Missing argument 'FILE...': name a proposed fix, or a change by --repo and --base")
    subject = Subject.parse(subject_name)
    texts = [(name, None if is_release(name) else _read(name)) for name in dict.fromkeys(files)]
    # Of a text with code blocks, only the functions of the release say which block is the proposal.
    whole = (read_proposal(name, text, ()) for name, text in texts if text is not None)
    if any(each.form == "diff" and each.taken.startswith("the whole file") for each in whole):
        find_git()
    known = load(KNOWN_ISSUES)
    place = place_of(subject)
    budget = JudgeBudget(seed=seed_)
    if minutes is not None:
        budget = replace(budget, seconds=minutes * 60, graphs=trials or 1_000_000)
    if trials is not None:
        budget = replace(budget, graphs=trials, seconds=budget.seconds if minutes is not None else 600.0)
    folder = RunFolder(out)
    started = datetime.now(UTC).isoformat(timespec="seconds")
    progress = JudgeProgress(len(texts) + 2, quiet=as_json and not sys.stderr.isatty())
    session = JudgeSession(subject, place, folder, budget, known, progress.say, at_least)
    interrupted = False
    try:
        session.open()
        proposals = list(_proposals(texts, session.cloning))  # before the references, which take minutes
        progress.on("the release itself")
        session.references()
        for name, text, proposal in proposals:
            progress.on(name)
            session.judge(name, text, proposal)
        progress.on("the scripts")
        session.settle()
    except KeyboardInterrupt:
        interrupted = True
    finally:
        progress.status.clear()
        session.close(interrupted=interrupted)
    about = f"{subject} ({in_words(session.versions)})"
    judged = [one.judged for one in session.candidates]
    verdicts = dict(Counter(each.word for each in judged))
    tried = sum(each.tried for each in judged)
    subjects = {str(subject): session.versions}
    folder.run(Run(started, subjects=subjects, seed=seed_, trials=tried, verdicts=verdicts))
    all_of_it = session.write_summary(about)
    folder.event("end", interrupted=interrupted)
    if as_json:
        click.echo(_summary(session, folder.path, interrupted, progress.status.seconds))
    else:
        click.echo("\n".join(judged_text(judged, about)))
        click.echo(f"{'interrupted; ' if interrupted else ''}all of it is in {all_of_it}, with a script for the worst")
    holds = all(one.judged.holds for one in session.candidates if one.folder is not None)
    sys.exit(130 if interrupted else 0 if holds else 1)


def _judge_change(
    repo: str,
    base: str,
    head: str | None,
    budget: JudgeBudget,
    at_least: str,
    out: Path | None,
    *,
    as_json: bool,
    markdown: bool,
) -> int:
    """Judge a change and print what it does; the exit code."""
    tree, suffix = split(repo.strip())
    folder = Path(tree).expanduser().absolute()
    if not folder.is_dir():
        raise click.UsageError(f"--repo {repo}: there is no folder {folder}")
    before = parting(tree, folder, base, head or "HEAD")
    after = f"#{whole_name(tree, folder, head)}" if head else ""
    # Without a backend behind it, the last part of a name may be taken for one.
    backend, at, device = suffix.partition("@")
    behind = f"{backend or '/' + BACKENDS['keras'][0]}{at}{device}"
    names = f"{folder}#{before}{behind}", f"{folder}{after}{behind}"
    old, new = (Subject.parse(shared.subject_in_full(each)) for each in names)
    if old == new:
        raise click.UsageError(f"{head or repo} has no change since it left {base}: both are {old}")
    progress = JudgeProgress(1, quiet=(as_json or markdown) and not sys.stderr.isatty())
    progress.on(head or repo)
    trees = TwoTrees(old, new, load(KNOWN_ISSUES), budget, progress.say, at_least)
    interrupted = False
    try:
        judged = trees.judge()
    except KeyboardInterrupt:
        interrupted = True
        judged = trees.judged()
    finally:
        progress.status.clear()
    comment = change_markdown(judged)
    if out is not None:
        write(out / "change.json", judged)
        write_bytes(out / "comment.md", comment.encode())
    if as_json:
        told = msgspec.json.decode(msgspec.json.encode(judged))
        click.echo(json_text({**told, "holds": judged.holds, "interrupted": interrupted}))
    else:
        click.echo(comment if markdown else "\n".join(change_lines(judged)))
    return 130 if interrupted else 0 if judged.holds else 1


def _read(name: str) -> str:
    try:
        return read_text(Path(name))
    except UnreadableError as error:
        raise click.UsageError(str(error)) from None


def _proposals(
    texts: Sequence[tuple[str, str | None]], cloning: CloningFunctions
) -> Iterator[tuple[str, str, Proposal]]:
    """What each file or release proposes, with its name and its text."""
    for name, text in texts:
        proposal = proposal_of(name, cloning) if text is None else read_proposal(name, text, cloning.functions)
        if proposal.form == "diff":
            find_git()
        yield name, text or proposal.text, proposal


class JudgeProgress:
    """Which candidate is tried, what is being done with it, and about how long all will take."""

    def __init__(self, parts: int, *, quiet: bool) -> None:
        """`parts` are the files, and with them the release itself and the scripts; a change is one."""
        self.status = StatusLine(quiet=quiet, soon=0.0, piped=5.0)
        self._parts = parts
        self._done = -1
        self._name = "judging"

    def on(self, name: str) -> None:
        """The next part begins."""
        self._done += 1
        self._name = name

    def say(self, what: str, part: float) -> None:
        """What is being done, and how much of this part is."""
        done = max(0.0, self._done + part)
        left = about_left(self.status.seconds * (self._parts - done) / done) if done > 0.5 else ""
        self.status.show(f"{self._name}: {what}{left}")


def _summary(session: JudgeSession, folder: Path, interrupted: bool, seconds: float) -> str:
    rows = []
    for one in session.candidates:
        more = {"verdict": one.judged.word, "holds": one.judged.holds, "fixes": one.judged.fixes}
        # Of each graph the text, as it stands in verdict.json.
        plain = msgspec.json.decode(msgspec.json.encode(one.judged))
        rows.append({**plain, **more, "reference": one.folder is None})
    about = {"folder": str(folder), "subject": str(session.subject), "interrupted": interrupted}
    return json_text({**about, "seconds": round(seconds, 1), "candidates": rows})
