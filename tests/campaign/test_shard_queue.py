"""The order of shards and cases: the same outcome in whichever order shards come back."""

from __future__ import annotations

import itertools

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clonediff.harness.campaign.shard_queue import MOST_TRIES, ShardQueue
from clonediff.harness.campaign.shards import SIZE, MadeSmaller, ShardDone, WrittenFinding
from clonediff.harness.trials.trial import Key
from clonediff.reports.records import Finding

GRAPH = msgspec.Raw(b"{}")


def finding(name: str, turn: int) -> Finding:
    return Finding(name, f"{name} of turn {turn}", "keras", "upstream", GRAPH, (), "", subject="keras")


def key(name: str) -> Key:
    return "upstream", name


def done(turn: int, *names: str) -> ShardDone:
    raw_findings = tuple(WrittenFinding(finding(name, turn)) for name in names)
    return ShardDone(
        "keras", turn, trials=SIZE, raw_findings=raw_findings, met=tuple((key(name), turn + 1) for name in names)
    )


def shard_queue(first: int = 0, trials: int | None = None) -> ShardQueue:
    return ShardQueue("keras", 3, (GRAPH,) * first, trials)


def test_graphs_given_come_first_and_then_the_drawn_ones() -> None:
    shards = list(iter(shard_queue(first=SIZE + 1, trials=SIZE + 20).next_shard, None))
    assert [(len(each.graphs), each.count) for each in shards] == [(SIZE, 0), (1, 0), (0, SIZE), (0, 20)]
    assert [each.turn for each in shards] == [0, 1, 2, 3]
    assert [each.opens for each in shards] == [False, False, True, False]


def test_without_a_number_of_trials_there_is_no_end() -> None:
    its = shard_queue()
    shards = [its.next_shard() for _ in range(1000)]
    assert len({each.seed for each in shards if each is not None}) == 1000


def test_shards_of_other_seeds_are_others() -> None:
    seeds = [
        {shard.seed for shard in itertools.islice(iter(ShardQueue("keras", seed, (), None).next_shard, None), 200)}
        for seed in range(4)
    ]
    assert len(set.union(*seeds)) == 800


@given(st.permutations(range(5)))
def test_the_witness_and_the_count_do_not_depend_on_the_order_in_which_shards_come_back(order: list[int]) -> None:
    shards = [done(0), done(1, "b"), done(2, "a", "b"), done(3, "a"), done(4, "c")]
    its = shard_queue()
    for turn in order:
        assert its.done(shards[turn])
    assert {name: case.count for (_, name), case in its.cases.items()} == {"b": 5, "a": 7, "c": 5}
    heard = list(iter(its.next_case, None))
    assert [(case.key[1], shard.turn) for case, shard, _ in heard] == [("b", 1), ("a", 2), ("c", 4)]


def test_a_shard_is_not_taken_before_those_ahead_of_it() -> None:
    its = shard_queue()
    its.done(done(1, "a"))
    assert its.next_case() is None
    its.done(done(0, "a"))
    found = its.next_case()
    assert found is not None
    assert found[1].turn == 0


def test_a_shard_that_comes_back_twice_counts_once() -> None:
    its = shard_queue()
    assert its.done(done(0, "a"))
    assert not its.done(done(0, "a"))
    assert its.cases[key("a")].count == 1


def test_a_shard_that_is_done_is_not_given_out_again() -> None:
    its = shard_queue(trials=3 * SIZE)
    its.done(done(1))
    assert [each.turn for each in iter(its.next_shard, None)] == [0, 2]


def test_what_waits_for_a_shard_that_never_comes_is_taken_at_the_end() -> None:
    its = shard_queue()
    its.done(done(3, "a"))
    assert not its.cases
    its.take_all()
    assert [case.key for case in its.cases.values() if case.waiting] == [key("a")]


def test_a_cause_is_settled_once_and_counted_from_then_on() -> None:
    its = shard_queue()
    its.done(done(0, "a"))
    assert its.next_case() is not None
    assert its.next_case() is None, "it is under way"
    case = its.settled(MadeSmaller("keras", key("a"), 0, finding("a", 0), "script"))
    its.done(done(1, "a"))
    assert its.next_case() is None
    assert case.finding is not None
    assert case.finding.count == 3


def test_a_cause_that_no_witness_shows_again_is_unsteady() -> None:
    its = shard_queue()
    for turn in range(MOST_TRIES + 2):
        its.done(done(turn, "a"))
    turns = []
    while (found := its.next_case()) is not None:
        turns.append(found[1].turn)
        case = its.settled(MadeSmaller("keras", key("a"), found[1].turn))
    assert turns == list(range(MOST_TRIES))
    assert case.unsteady
    assert case.finding is None
    assert not case.waiting


def test_a_later_witness_may_show_what_the_first_does_not() -> None:
    its = shard_queue()
    its.done(done(0, "a"))
    its.done(done(1, "a"))
    assert its.next_case() is not None
    its.settled(MadeSmaller("keras", key("a"), 0))
    found = its.next_case()
    assert found is not None
    assert found[1].turn == 1
    case = its.settled(MadeSmaller("keras", key("a"), 1, finding("a", 1), "script"))
    assert case.finding is not None
    assert not case.unsteady


@pytest.mark.parametrize("given_up", [pytest.param(False, id="given-back"), pytest.param(True, id="given-up")])
def test_what_was_not_settled_is_kept_as_it_was_seen(given_up: bool) -> None:
    its = shard_queue()
    its.done(done(0, "a"))
    its.next_case()
    its.give_up(key("a")) if given_up else its.given_back(key("a"))
    assert its.cases[key("a")].waiting[0][1].finding.title == "a of turn 0"
    assert (its.next_case() is None) is given_up


def settled(
    turn: int, *, rest: str | None = None, shown: bool = True, seconds: float = 5.0, name: str = "a"
) -> MadeSmaller:
    found = finding(name, turn) if shown else None
    return MadeSmaller("keras", key(name), turn, found, "script", seconds=seconds, rest=rest)


def test_a_cause_that_may_get_smaller_is_settled_further_from_the_same_witness() -> None:
    its = shard_queue()
    for turn in range(2):
        its.done(done(turn, "a"))
    for answers in ("1", "10"):
        its.next_case()
        case = its.settled(settled(0, rest=answers))
        assert not case.finished
        assert case.finding is not None
    found = its.next_case()
    assert found is not None
    assert (found[0].settled, found[1].turn) == (settled(0, rest="10"), 0)
    assert its.settled(settled(0)).finished
    assert its.next_case() is None
    assert not case.unsteady


def test_of_those_that_had_no_time_yet_the_smallest_is_next() -> None:
    its = shard_queue()
    its.done(done(0, "a", "b", "c"))
    for name, spaces in (("a", 9), ("b", 2), ("c", 5)):
        case = its.cases[key(name)]
        [(turn, raw_finding)] = case.waiting
        larger = msgspec.structs.replace(raw_finding.finding, graph=msgspec.Raw(b"{" + b" " * spaces + b"}"))
        case.waiting = [(turn, msgspec.structs.replace(raw_finding, finding=larger))]
    order = [found[0].key[1] for found in iter(its.next_case, None)]
    assert order == ["b", "c", "a"]


def test_the_least_time_so_far_is_next() -> None:
    its = shard_queue()
    its.done(done(0, "a", "b"))
    order = []
    for seconds in (5.0, 3.0, 3.0, 1.0):
        found = its.next_case()
        assert found is not None
        order.append(found[0].key[1])
        its.settled(settled(0, rest="1", seconds=seconds, name=order[-1]))
    assert order == ["a", "b", "b", "a"]


@pytest.mark.parametrize("pieces", [0, 2])
def test_the_witnesses_heard_do_not_depend_on_the_pieces(pieces: int) -> None:
    """One that shows at first and then not is one that does not show, as it is in a single piece."""
    its = shard_queue()
    turns = []
    for turn in range(MOST_TRIES + 2):
        its.done(done(turn, "a"))
        if turn < MOST_TRIES:
            for _ in range(pieces):
                its.next_case()
                its.settled(settled(turn, rest="1"))
            found = its.next_case()
            assert found is not None
            turns.append(found[1].turn)
            case = its.settled(settled(turn, shown=False))
            assert case.finding is None
    assert turns == list(range(MOST_TRIES))
    assert case.unsteady
    assert its.next_case() is None


def test_it_is_known_when_every_shard_was_given_out() -> None:
    its = shard_queue(trials=2 * SIZE)
    its.done(done(1))
    assert not its.drawn_out
    assert its.next_shard() is not None
    assert its.drawn_out
    assert its.next_shard() is None
    assert not shard_queue().drawn_out
