"""`clonediff replay`: what it takes, what it says of it, and how it ends."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result

from clonediff.harness.answers import replay as replaying
from clonediff.harness.answers.targets import targets
from clonediff.harness.campaign.corpus import About, NightlyCorpus, digest
from clonediff.harness.cli import cli
from clonediff.harness.subjects import Subject, SubjectProcess
from clonediff.harness.subjects.environment import Place
from clonediff.harness.trials.cases import number_of
from clonediff.reports.records import Finding, write_bytes
from clonediff.strategies.graph import to_json
from tests.cli.finding_folders import DENSE, KNOWN, folder_of, found, kept, news
from tests.command_line import Command
from tests.example_graphs import EXAMPLES
from tests.interrupting import interrupt, under_way
from tests.planted import planted
from tests.repositories import commit, git, put_keras
from tests.shared_subjects import Lent

pytestmark = pytest.mark.usefixtures("warm_commands")


def replay(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["replay", *map(str, arguments)])


def answers(*arguments: str | Path) -> tuple[list[dict[str, str]], int]:
    done = replay(*arguments, "--json")
    return json.loads(done.stdout)["replayed"], done.exit_code


@pytest.fixture(scope="module")
def refused(keras: SubjectProcess) -> Finding:
    return found(keras, "lambda-refused")


@pytest.mark.slow(reason="it installs a release")
def test_a_finding_is_fixed_in_a_release_without_it_and_still_broken_in_this_one(
    refused: Finding, release_place: Callable[[str], Place], tmp_path: Path
) -> None:
    release_place("keras==3.10.0")
    run = kept(tmp_path, refused)
    done = replay(run, "--subject", "keras==3.10.0")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith(
        "gone         keras==3.10.0  A Lambda cannot be cloned: ValueError in lambda_layer.py"
    )
    assert "known issues remain: input-name" in done.stdout
    both = ("--subject", "keras", "--subject", "keras==3.10.0")
    rows, code = answers(run, *both)
    assert [(row["subject"], row["answer"]) for row in rows] == [("keras==3.10.0", "gone"), ("keras", "breaks")]
    assert code == 1
    title, fixed, broken, *_ = [line for line in replay(run, *both).stdout.splitlines() if "known issues" not in line]
    assert title.startswith("A Lambda cannot be cloned: ValueError in lambda_layer.py")
    assert (fixed.strip(), broken.strip()) == ("gone         keras==3.10.0", "breaks       keras")


@pytest.mark.slow(reason="it installs a release")
def test_what_remains_is_a_change_where_it_is_not_known(
    refused: Finding, release_place: Callable[[str], Place], tmp_path: Path
) -> None:
    release_place("keras==3.10.0")
    (tmp_path / "none").mkdir()
    folder = folder_of(kept(tmp_path / "run", refused), refused)
    [row], code = answers(folder, "--subject", "keras==3.10.0", "--known-issues", tmp_path / "none")
    assert (row["answer"], code) == ("other", 1)
    assert row["because"].startswith("gone; instead: An input layer has another name in the clone [structure-name-")


def test_another_cloner_is_asked_where_it_is_named(refused: Finding, tmp_path: Path) -> None:
    [row], code = answers(kept(tmp_path, refused), "--cloner", "fixed")
    assert (row["answer"], row["cloner"], code) == ("gone", "fixed", 0)


def test_what_only_the_costly_checks_see_is_not_taken_for_fixed(keras: SubjectProcess, tmp_path: Path) -> None:
    broken = planted("gradient_stopped")
    finding = news(keras, DENSE, broken)
    assert number_of(DENSE) % 8, "in a search this graph would not get them"
    assert finding.root is not None
    assert finding.root.check == "training"
    [row], code = answers(kept(tmp_path, finding), "--cloner", broken)
    assert (row["answer"], code) == ("breaks", 1)


def test_a_graph_a_folder_of_graphs_and_a_known_issue_are_tried(tmp_path: Path) -> None:
    graphs = tmp_path / "graphs"
    write_bytes(graphs / "a-holds.json", to_json(DENSE))
    write_bytes(graphs / "b-breaks.json", EXAMPLES["lambda-refused"].encode())
    corpus = NightlyCorpus(tmp_path / "corpus")
    corpus.keep("keras", DENSE, About(("an-id",), "A title", "keras", "fixed"))
    rows, code = answers(graphs, "lambda-refused", graphs / "a-holds.json", corpus.folder)
    assert [(Path(row["where"]).name, row["answer"]) for row in rows] == [
        ("a-holds.json", "gone"),
        ("b-breaks.json", "breaks"),
        ("lambda-refused", "breaks"),
        (f"{digest(DENSE)}.json", "gone"),
    ], "each once"
    assert [row["cloner"] for row in rows] == ["upstream", "upstream", "upstream", "fixed"]
    assert code == 1
    assert [each["known"] for each in rows[1]["shown"]] == ["lambda-refused"]
    assert answers(graphs / "a-holds.json")[1] == 0


def test_an_unreadable_finding_is_named_and_the_rest_is_replayed(
    refused: Finding, keras: SubjectProcess, tmp_path: Path
) -> None:
    other = found(keras, "input-name")
    run = kept(tmp_path, refused, other)
    cut = folder_of(run, refused) / "finding.json"
    cut.write_bytes(cut.read_bytes()[:200])
    done = replay(run)
    assert done.exit_code == 2
    assert f"cannot tell  {cut}" in done.stdout
    assert "findings/" in done.stdout
    assert f"breaks       keras  {other.title}" in done.stdout
    assert "2 replayed" in done.stdout


def test_the_seconds_of_an_answer_are_without_the_start_of_its_process(
    keras: SubjectProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    def starting(subject: Subject, place: Place) -> Lent:
        monkeypatch.setattr(replaying.time, "monotonic", lambda: monotonic() + 1000)
        return Lent(keras)

    monotonic = replaying.time.monotonic
    monkeypatch.setattr(replaying, "SubjectProcess", starting)
    [row], _ = answers("lambda-refused")
    assert float(row["seconds"]) < 1000


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(("nothing-here",), "no such folder or file, and no known issue", id="nothing"),
        pytest.param(("lambda-refusd",), "did you mean lambda-refused", id="almost"),
    ],
)
def test_what_cannot_be_had_is_an_error_in_a_line(arguments: tuple[str, ...], said: str) -> None:
    done = replay(*arguments)
    assert done.exit_code == 2
    assert done.stdout.startswith("cannot tell  ")
    assert said in done.stdout
    assert "1 cannot tell" in done.stdout.splitlines()[-1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param((), "RUN|FINDING|GRAPH|ISSUE|known", id="nothing"),
        pytest.param(("lambda-refused", "--subject", "kerras"), "unknown release 'kerras'", id="subject"),
        pytest.param(("lambda-refused", "--cloner", "fixd"), "'fixd'", id="cloner"),
        pytest.param(("lambda-refused", "--known-issues", "nowhere"), "nowhere: not a folder", id="known-issues"),
    ],
)
def test_a_bad_argument_is_exit_code_2(arguments: tuple[str, ...], said: str, clonediff: Command) -> None:
    code, _, err = clonediff("replay", *arguments)
    assert code == 2
    assert said in err


@pytest.mark.parametrize("as_json", [(), ("--json",)], ids=["text", "json"])
def test_nothing_in_a_file_does_anything_to_a_terminal(
    as_json: tuple[str, ...], refused: Finding, tmp_path: Path
) -> None:
    hostile = "\x1b[31mred\x1b]0;title\x07\x9b2J\u202eback"
    finding = msgspec.structs.replace(refused, title=hostile, id=f"made-{hostile}", subject="")
    graph = json.loads(bytes(finding.graph))
    graph["layers"][0]["kind"] = hostile
    bad = msgspec.structs.replace(finding, graph=msgspec.Raw(json.dumps(graph).encode()), cloner=hostile)
    run = tmp_path / "run"
    for number, each in enumerate((finding, bad)):
        write_bytes(run / "findings" / f"{number}{hostile}" / "finding.json", msgspec.json.encode(each))
    done = replay(run, *as_json)
    assert done.exit_code == 2
    assert "breaks" in done.stdout
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & {*done.stdout, *done.stderr}


def test_an_interrupt_tells_what_was_replayed_so_far(tmp_path: Path) -> None:
    example = json.loads(EXAMPLES["input-name"])
    for number in range(2000):
        write_bytes(tmp_path / f"{number:04}.json", json.dumps({**example, "name": f"m{number}"}).encode())
    with under_way("replay", str(tmp_path), cwd=tmp_path, PYTHONUNBUFFERED="1") as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        assert first.startswith("breaks       keras  0000.json")
        stdout, stderr = interrupt(process)
    assert process.returncode == 130, stderr
    assert stdout.splitlines()[-1].startswith("interrupted; ")
    assert " of 2000 replayed" in stdout
    assert "Traceback" not in stderr


def test_the_answers_for_several_subjects_come_worst_last() -> None:
    found = {"a": ("other", "gone", "breaks", "gone"), "b": ("gone", "cannot tell"), "c": ("gone", "gone")}
    rows = [
        replaying.ReplayRow(where, "", "", str(number), "upstream", replaying.ReplayAnswer(outcome))
        for where, outcomes in found.items()
        for number, outcome in enumerate(outcomes)
    ]
    told = [[(row.where, row.subject, row.answer.value) for row in each] for each in replaying.worst_last(rows)]
    assert told == [
        [("c", "0", "gone"), ("c", "1", "gone")],
        [("b", "0", "gone"), ("b", "1", "cannot tell")],
        [("a", "1", "gone"), ("a", "3", "gone"), ("a", "0", "other"), ("a", "2", "breaks")],
    ]


def test_all_known_issues_of_a_generation_are_named_by_one_word() -> None:
    (found, problems) = targets(["known"], KNOWN, ["keras"])
    assert {target.id for target in found} == {issue.id for issue in KNOWN.on("keras").issues}
    assert not problems


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("lambda-refused", "--subject", "./tree"), 125, "has no version in keras/src/version.py"),
        (("lambda-refused", "--subject", "./treee"), 128, "there is no folder"),
        (("lambda-refused", "--subject", "./next"), 125, "is not a version: write keras=="),
        (("lambda-refused",), 128, "--bisect: name what is bisected, and nothing else, as in --subject ."),
        (("lambda-refusde", "--subject", "keras"), 128, "something that cannot be tried on any commit"),
        (("lambda-refused", "--subject", "kerras"), 128, "unknown release 'kerras'"),
        (("--subjects", "."), 128, "No such option"),
    ],
)
def test_a_bisection_passes_over_a_commit_that_cannot_be_had_and_stops_at_a_fault(
    arguments: tuple[str, ...], code: int, said: str, clonediff: Command, tmp_path: Path
) -> None:
    (tmp_path / "tree").mkdir()
    put_keras(tmp_path / "next", version="next")
    git(tmp_path / "next", "init", "-q")
    commit(tmp_path / "next")
    ended, _, err = clonediff("replay", *arguments, "--bisect")
    assert ended == code
    assert said in " ".join(err.split())
