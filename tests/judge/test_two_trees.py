"""A change of Keras: a tree that breaks one thing and mends another, beside the Keras that it was made of."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from clonediff.harness.judge import two_trees
from clonediff.harness.judge.change_text import change_lines, change_markdown, sentence
from clonediff.harness.judge.effects import FixEffect
from clonediff.harness.judge.graphs import PLAIN
from clonediff.harness.judge.record import JudgedCause
from clonediff.harness.judge.trying import CauseOnGraphs, GraphTried, JudgeBudget
from clonediff.harness.judge.two_trees import NamedIssue, TreesJudged, TwoTrees
from clonediff.harness.subjects.case import Case
from clonediff.harness.subjects.place import ReleasePlace
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.subjects.subject import Subject
from clonediff.harness.subjects.warm_child import Limits
from clonediff.harness.trials.trial import Trial
from clonediff.reports.known import KnownIssue, KnownIssues, Pattern, load
from clonediff.reports.records import Cause, Difference, Place, Severity
from tests.command_line import Command
from tests.repositories import commit, git, hash_of, put_keras
from tests.shared_subjects import Lent
from tests.waiting import PATIENCE

MENDED, LEFT = "model-trainable", "lambda-refused"
CHANGE = """
_before = clone_model


def clone_model(model, *args, **kwargs):
    if type(model).__name__ == "Sequential":
        raise KeyError("worse")
    clone = _before(model, *args, **kwargs)
    clone.trainable = model.trainable
    return clone
"""
BUDGET = JudgeBudget(seconds=0, graphs=0, limits=Limits(trial=PATIENCE, cloning=0))
CAUSE = JudgedCause(
    id="made-keyerror",
    effect=FixEffect.BREAKS,
    title="A Dense cannot be cloned",
    said="KeyError: 'x'",
    graphs=3,
    first_on="a graph",
    smallest="Dense",
    graph=msgspec.Raw(b"{}"),
    source="",
    differences=(),
)
LOSES = msgspec.structs.replace(
    CAUSE, id="mask", effect=FixEffect.LOSES, title="A Lambda loses its mask", severity=Severity.PROPERTY
)


def changed(folder: Path) -> ReleasePlace:
    """The Keras that is installed, with another cloning.py; the rest of it are links."""
    spec = importlib.util.find_spec("keras")
    assert spec is not None and spec.origin is not None
    below = Path(spec.origin).parent
    its = folder / "keras"
    for part in ("src", "models", "cloning.py"):
        its.mkdir(parents=True)
        for each in below.iterdir():
            if each.name not in (part, "__pycache__"):
                (its / each.name).symlink_to(each)
        below, its = below / part, its / part
    its.write_text(below.read_text() + CHANGE)
    return ReleasePlace(path=(str(folder),))


@pytest.fixture
def judged(keras: SubjectProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TreesJudged:
    keras.start()
    place = changed(tmp_path / "changed")
    old, new = Subject.parse("keras"), Subject.parse("keras==99")

    def process(trees: TwoTrees, subject: Subject) -> SubjectProcess:
        return Lent(keras) if subject == old else SubjectProcess(old, place=place, limits=BUDGET.limits)

    monkeypatch.setattr(TwoTrees, "_process", process)
    monkeypatch.setattr(two_trees, "known_models", lambda *_: {"a Sequential": PLAIN["a Sequential"]})
    known = KnownIssues(tuple(load()[each] for each in (MENDED, LEFT)))
    return TwoTrees(old, new, known, BUDGET, lambda what, part: None).judge()


def test_a_change_is_told_by_what_it_breaks_mends_and_leaves(judged: TreesJudged) -> None:
    assert not judged.holds
    [worse] = judged.worse
    assert (worse.effect, worse.reproduced, worse.first_on) == (FixEffect.BREAKS, True, "a Sequential")
    assert "KeyError" in worse.title
    assert "clone_model" in judged.scripts[worse.id]
    assert [each.id for each in judged.mended] == [MENDED]
    assert [each.id for each in judged.left] == [LEFT]
    assert (judged.brought, judged.untold, judged.unsteady, judged.stopped) == ((), (), 0, "")
    assert judged.tried >= 2


@pytest.mark.parametrize(
    ("before", "after", "where"),
    [
        (True, False, "mended"),
        (True, True, "left"),
        (True, None, "untold"),
        (False, True, "brought"),
        (None, True, ""),
        (False, False, ""),
    ],
)
def test_a_known_issue_is_mended_left_or_new(before: bool | None, after: bool | None, where: str) -> None:
    assert two_trees._became(before, after) == where


def trees(**parts: object) -> TwoTrees:
    """Two trees of which something is known by now, and nothing is tried."""
    known = KnownIssues(tuple(load()[each] for each in (MENDED, LEFT)))
    its = TwoTrees(Subject.parse("keras"), Subject.parse("keras==99"), known, BUDGET, lambda what, part: None)
    for name, part in parts.items():
        setattr(its, f"_{name}", part)
    return its


def shows(effect: FixEffect, severity: Severity) -> CauseOnGraphs:
    root = Difference("structure", "model.trainable", "trainable", "false", "true", severity, Place("a", "Model"))
    graph = PLAIN["one Dense"]
    tried = GraphTried(graph, Case(f"# {effect.name}", ()), Trial(), None, ())
    return CauseOnGraphs(effect, Cause("frozen", root, severity=severity), "a graph", tried)


def test_an_interrupt_while_it_tries_again_keeps_what_was_seen_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[Sequence[KnownIssue]] = []

    def compare(its: TwoTrees, issues: Sequence[KnownIssue], *_: object) -> None:
        compared.append(issues)
        its._issues.setdefault("left", []).append((load()[LEFT], Severity.CRASHES))
        if len(compared) == 2:
            raise KeyboardInterrupt
        its._issues["brought"] = [(load()[MENDED], Severity.TRAINS)]

    nothing = SimpleNamespace(
        reference=SimpleNamespace(ahead=nullcontext), try_all=lambda *_: None, graphs={}, causes={}, stopped=""
    )
    monkeypatch.setattr(
        TwoTrees,
        "_process",
        lambda *_: nullcontext(SimpleNamespace(versions={}, ready=SimpleNamespace(keras="3.15.1"))),
    )
    monkeypatch.setattr(TwoTrees, "_pair", lambda *_: nothing)
    monkeypatch.setattr(TwoTrees, "_compare_issues", compare)
    its = trees()
    with pytest.raises(KeyboardInterrupt):
        its.judge()
    judged = its.judged()
    assert [issue.id for issue in compared[1]] == [MENDED]
    assert (judged.stopped, judged.holds) == ("interrupted", False)
    assert [each.id for each in (*judged.brought, *judged.left)] == [MENDED, LEFT]


@pytest.mark.parametrize(
    ("severity", "told"), [(Severity.PROPERTY, [MENDED]), (Severity.TRAINS, []), (Severity.COMPUTES, [])]
)
def test_a_known_issue_that_is_new_is_told_by_a_cause_that_is_as_severe(severity: Severity, told: list[str]) -> None:
    issue = msgspec.structs.replace(load()[MENDED], match=(Pattern(aspect="trainable"),))
    lost = shows(FixEffect.LOSES, severity)
    judged = trees(sure=[lost], issues={"brought": [(issue, Severity.TRAINS)]}, stopped="").judged()
    assert judged.known == {"frozen": MENDED}
    assert [each.id for each in judged.brought] == told
    assert not judged.holds


def test_of_a_cause_with_two_effects_the_script_is_that_of_the_worse() -> None:
    both = [shows(FixEffect.BREAKS, Severity.TRAINS), shows(FixEffect.LOSES, Severity.PROPERTY)]
    scripts = trees(sure=both).judged().scripts
    assert ["# BREAKS" in script for script in scripts.values()] == [True]


def _issues(count: int) -> tuple[NamedIssue, ...]:
    return tuple(NamedIssue(f"issue-{number}", f"Number {number}") for number in range(count))


def test_a_comment_is_a_screen_whose_details_are_folded() -> None:
    judged = TreesJudged(
        "keras==3.16.0+ga", "keras==3.16.0+gb", {"keras": "3.16.0"}, 400, (CAUSE,) * 20, (LOSES,) * 9,
        {CAUSE.id: "x = 1\n" * 50}, brought=_issues(1), mended=_issues(20), left=_issues(100),
    )  # fmt: skip
    open_, *folded = change_markdown(judged).split("<details>")
    assert len(open_.splitlines()) <= 20
    assert open_.startswith(
        "**clonediff**: 21 things worse, 9 properties or names lost, mends 20 known issues, leaves 100 as they are "
        "(400 graphs tried)"
    )
    assert "- loses: A Lambda loses its mask on 3 graphs" in open_
    assert "- loses 7 more" in open_
    assert "15 more that are worse" in open_
    assert all(each.count("</details>") == 1 for each in folded)
    assert change_lines(judged)[1].startswith("  worse: A Dense cannot be cloned on 3 graphs")
    assert "    x = 1" in folded[0]
    assert "issue-99" in folded[-2]


def test_what_is_shown_is_no_markup() -> None:
    evil = msgspec.structs.replace(CAUSE, title="<b>@keras-team `x` #1\n\x1b[31m", said="</details>")
    judged = TreesJudged("a", "b", {}, 1, (evil,), scripts={evil.id: "</details>\n```\n"})
    said = change_markdown(judged)
    assert "<b>" not in said
    assert "@keras" not in said
    assert "\x1b" not in said + "".join(change_lines(judged))
    assert all(line.startswith("    ") for line in said.splitlines() if line.strip() == "```")


def test_nothing_worse_is_said_so_and_what_is_not_all_tried_does_not_hold() -> None:
    judged = TreesJudged("a", "b", {}, 1)
    assert judged.holds
    assert sentence(judged) == "nothing is worse, mends no known issue, leaves 0 as they are (1 graph tried)"
    assert not msgspec.structs.replace(judged, stopped="interrupted").holds
    assert not msgspec.structs.replace(judged, brought=_issues(1)).holds


def test_what_only_loses_a_property_is_told_after_what_is_worse_and_counts_where_it_is_asked_for() -> None:
    renamed = NamedIssue("renamed", "A layer has another name", severity=Severity.NAME)
    judged = TreesJudged("a", "b", {}, 1, (), (LOSES,), brought=(*_issues(1), renamed))
    said = change_lines(judged)
    assert said[0].startswith("b against a: 1 thing worse, 2 properties or names lost, ")
    assert [line.partition(":")[0].strip() for line in said[1:]] == ["worse", "loses", "loses"]
    less = msgspec.structs.replace(judged, brought=(renamed,))
    assert (judged.holds, less.holds) == (False, True)
    assert not msgspec.structs.replace(less, at_least="property").holds
    computes = msgspec.structs.replace(CAUSE, severity=Severity.COMPUTES)
    assert msgspec.structs.replace(less, worse=(computes,), at_least="crashes").holds


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "keras"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    put_keras(folder)
    commit(folder)
    return folder


@pytest.mark.parametrize("head", [(), ("--head", "fix/torch")], ids=["as-it-is", "branch"])
def test_a_folder_or_a_branch_that_ends_like_a_backend_is_none(
    head: tuple[str, ...], repository: Path, clonediff: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CLONEDIFF_CACHE", str(tmp_path / "cache"))
    git(repository, "branch", "fix/torch")
    repository.rename(tmp_path / "jax")
    code, _, err = clonediff("judge", "--repo", "jax", "--base", "main", *head)
    assert code == 2
    short = hash_of(tmp_path / "jax")
    assert f"has no change since it left main: both are keras==3.16.0+g{short}" in " ".join(err.split())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--base", "main"), "a change is judged by --repo FOLDER --base BRANCH"),
        (("--repo", "keras", "--head", "main"), "a change is judged by --repo FOLDER --base BRANCH"),
        (("fix.py", "--repo", "keras", "--base", "main"), "without a FILE"),
        (("--repo", "keras", "--base", "mian"), "has no commit, tag or branch 'mian'"),
        (("--repo", "nowhere", "--base", "main"), "there is no folder"),
        (("fix.py", "--markdown"), "--markdown is for a change"),
        (("--repo", "keras", "--base", "main", "--subject", "keras"), "--subject is for a FILE"),
        (("--repo", "keras", "--base", "main", "--json", "--markdown"), "give one of them"),
    ],
)
@pytest.mark.usefixtures("repository")
def test_a_change_needs_its_repository_and_its_base(arguments: tuple[str, ...], said: str, clonediff: Command) -> None:
    code, _, err = clonediff("judge", *arguments)
    assert code == 2
    assert said in " ".join(err.split())
