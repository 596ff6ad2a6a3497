"""A finding that is made smaller in pieces: the same comes of them as of one that is as long as it takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest

from clonediff.harness.campaign import reducing, tasks, warm_subjects
from clonediff.harness.campaign.reducing import ShowsTheSame
from clonediff.harness.campaign.shards import MadeSmaller, Setup, Shard, ShardDone, WrittenFinding
from clonediff.harness.search.reducing import reduce
from clonediff.harness.search.reducing.measure import size
from clonediff.harness.search.sampling import sample_graphs
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.reports.records import Finding
from clonediff.strategies import to_json
from clonediff.strategies.graph import Graph, Input, Ref
from tests.planted import planted
from tests.search.reducing.questions import QUESTIONS
from tests.shared_subjects import Lent
from tests.warm_keras import graphs_of

GRAPHS = graphs_of("keras")
DRAWN, MOST = 10, 10
NAME, FAULT = "test-reducing", planted("layer_renamed")


def drawn(question: Callable[[Graph], bool]) -> Graph:
    """The largest of those drawn for which a question holds."""
    return max(filter(question, sample_graphs(GRAPHS, DRAWN, 6)), key=size)


@pytest.mark.parametrize("name", ["two of three", "one of five", "anything"])
def test_what_comes_of_many_pieces_is_what_comes_of_one(name: str) -> None:
    graph = drawn(QUESTIONS[name])

    def looking(seen: list[Graph], before: str, until: float | None) -> ShowsTheSame:
        def look(each: Graph) -> Any:
            seen.append(each)
            return each if QUESTIONS[name](each) else None

        return ShowsTheSame(look, before, until)

    def run(same: ShowsTheSame) -> Graph:
        assert same(graph)
        return reduce(graph, same, most=MOST).graph

    whole: list[Graph] = []
    wanted = run(looking(whole, "", None))
    assert len(whole) > 3
    pieces: list[Graph] = []
    answers = ""
    while True:
        same = looking(pieces, answers, 0.0)  # its time is over as soon as it has tried one
        try:
            found = run(same)
        except reducing._Paused:
            assert len(same.answers) == len(answers) + 1
            answers = same.answers
        else:
            break
    assert found == wanted
    assert pieces == whole, "each was tried once, and in the same order"


@pytest.fixture(scope="module")
def seen(keras: SubjectProcess) -> Iterator[tuple[Shard, WrittenFinding]]:
    """A shard on a real Keras, the warm one, and a planted fault that it saw."""
    shard = Shard("keras", 0, 5, 10, opens=True)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(warm_subjects, "SubjectProcess", lambda *_, **its: Lent(keras))
        warm_subjects.prepare(Setup(NAME, (FAULT,)))
        try:
            done = tasks.try_shard(NAME, shard)
            assert isinstance(done, ShardDone)
            yield shard, max(done.raw_findings, key=lambda each: len(bytes(each.finding.graph)))
        finally:
            warm_subjects.close(NAME)


def _settled(
    shard: Shard, raw_finding: WrittenFinding, before: MadeSmaller | None, seconds: float | None
) -> MadeSmaller:
    done = tasks.make_smaller(NAME, shard, raw_finding, before, seconds)
    assert isinstance(done, MadeSmaller)
    return msgspec.json.decode(msgspec.json.encode(done), type=MadeSmaller)


@pytest.mark.slow(reason="two Keras; pieces are made above without one, and test_campaign makes smaller what it finds")
def test_a_real_finding_gets_as_small_in_pieces_on_whichever_worker(
    seen: tuple[Shard, WrittenFinding], keras: SubjectProcess
) -> None:
    shard, raw_finding = seen
    assert not raw_finding.finding.smallest
    whole = _settled(shard, raw_finding, None, None)
    assert whole.finding is not None
    assert whole.rest is None
    assert whole.finding.smallest
    assert len(bytes(whole.finding.graph)) < len(bytes(raw_finding.finding.graph))
    pieces: list[MadeSmaller] = []
    while not pieces or pieces[-1].rest is not None:
        # After the first few, which are of a single trial, some seconds each: it is no matter how many these are.
        pieces.append(_settled(shard, raw_finding, pieces[-1] if pieces else None, 0.0 if len(pieces) < 4 else 3.0))
        if len(pieces) == 1:  # the next is on another worker
            warm_subjects.close(NAME)
            keras.close()
            warm_subjects.prepare(Setup(NAME, (FAULT,)))
        if len(pieces) < 4:
            assert pieces[-1].trials == 1
            assert pieces[-1].finding is not None
            assert not pieces[-1].finding.smallest
    found = pieces[-1].finding
    assert found is not None
    assert _told(found) == _told(whole.finding)
    assert pieces[-1].script == whole.script
    assert sum(each.trials for each in pieces) == whole.trials
    assert all(each.seconds > 0 for each in pieces)


def _told(finding: Finding) -> dict[str, Any]:
    return {key: value for key, value in msgspec.structs.asdict(finding).items() if key not in ("versions",)}


def test_what_does_not_show_again_is_none(seen: tuple[Shard, WrittenFinding]) -> None:
    shard, raw_finding = seen
    other = WrittenFinding(msgspec.structs.replace(raw_finding.finding, id="something-else"))
    done = _settled(shard, other, None, 0.0)
    assert (done.finding, done.rest, done.script) == (None, None, "")
    assert done.trials


GRAPH = msgspec.Raw(to_json(Graph((Input((4,)),), (), (), Ref(0), Ref(0))))


def _kept(name: str, proof: bool | None) -> WrittenFinding:
    return WrittenFinding(Finding(name, name, "keras", "upstream", GRAPH, (), "", proof=proof), name)


@pytest.mark.parametrize(
    ("before", "new", "better"),
    [
        pytest.param(True, True, "new", id="both-proven"),
        pytest.param(True, False, "before", id="only-the-larger-is-proven"),
        pytest.param(None, False, "before", id="only-of-the-larger-it-is-not-known"),
        pytest.param(False, False, "new", id="neither-is-proven"),
        pytest.param(False, True, "new", id="only-the-smaller-is-proven"),
        pytest.param(True, None, "new", id="of-the-smaller-it-is-not-known"),
    ],
)
def test_a_smaller_one_takes_the_place_of_a_larger_unless_its_script_shows_less(
    before: bool | None, new: bool | None, better: str
) -> None:
    kept = reducing._better(_kept("before", before), _kept("new", new))
    assert kept is not None
    assert kept.script == better
