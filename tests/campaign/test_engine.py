"""What the engine makes of its workers' answers: of time, of subjects that fail, of causes that do not show again."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from clonediff.harness.campaign import engine as engines
from clonediff.harness.campaign import tasks
from clonediff.harness.campaign.engine import ATTEMPTS, FAILURES, Engine
from clonediff.harness.campaign.events import (
    Event,
    Found,
    MakingSmaller,
    ShardEnded,
    ShardLost,
    SubjectLost,
    Unsteady,
)
from clonediff.harness.campaign.shards import (
    SIZE,
    MadeSmaller,
    Plan,
    Setup,
    Shard,
    ShardDone,
    SubjectStarted,
    WrittenFinding,
)
from clonediff.harness.campaign.share import LEAST, MOST, SCRIPT
from clonediff.reports.records import Budget, Finding
from tests.waiting import until

GRAPH = msgspec.Raw(b"{}")
KEY, STEEL = ("upstream", "made-of-glass"), ("upstream", "made-of-steel")

Answer = Callable[..., Any]


class Worked(Future[Any]):
    """A future that can be let go of, as Dask's can."""

    def release(self) -> None:
        """There is nothing to let go of."""


class Workers:
    """Threads that answer what a test says: no Keras, and no network.

    `asked` has what was asked for, in its order, `pieces` what else was said to those who make a finding smaller.
    """

    def __init__(self, count: int, answer: Answer) -> None:
        self.count = count
        self.asked: list[tuple[str, str, int]] = []
        self.pieces: list[tuple[MadeSmaller | None, float | None]] = []
        self._answer = answer
        self._pool = ThreadPoolExecutor(max(1, count))

    def scheduler_info(self, n_workers: int) -> dict[str, Any]:
        return {"workers": {str(number): {"nthreads": 1} for number in range(self.count)}}

    def submit(self, task: Callable[..., Any], campaign: str, about: str | Shard, *more: Any, **options: Any) -> Worked:
        what = task.__name__
        subject, turn = (about.subject, about.turn) if isinstance(about, Shard) else (about, -1)
        self.asked.append((what, subject, turn))
        future = Worked()
        key = more[0].key if what == "make_smaller" else None
        if what == "make_smaller":
            self.pieces.append((more[1], more[2]))
        if self.count:
            self._pool.submit(self._work, future, what, subject, turn, *([key] if key else []))
        return future

    def close(self) -> None:
        self._pool.shutdown()

    def _work(self, future: Worked, *asked: Any) -> None:
        try:
            future.set_result(self._answer(*asked))
        except Exception as error:
            future.set_exception(error)


def takes(seconds: float) -> None:
    """What a worker does takes so long."""
    threading.Event().wait(seconds)


def healthy(what: str, subject: str, turn: int) -> Any:
    """A worker on which all goes well."""
    if what == "start_subject":
        return SubjectStarted(subject, {"keras": "3"}, clonediff="1")
    takes(0.002)
    return ShardDone(subject, turn, trials=SIZE, seconds=0.002)


@contextmanager
def campaign(
    answer: Answer, *, subjects: tuple[str, ...] = ("keras",), jobs: int = 1, **budget: Any
) -> Iterator[tuple[Engine, Workers, list[Event]]]:
    heard: list[Event] = []
    workers = Workers(jobs, answer)
    plan = Plan("", subjects, Setup("c", ("upstream",), 8), 1, Budget(**budget), clonediff="1")
    try:
        yield Engine(plan, workers, [heard.append]), workers, heard  # type: ignore[arg-type]
    finally:
        workers.close()


def test_a_subject_that_fails_midway_is_lost_and_the_others_go_on() -> None:
    def answer(what: str, subject: str, turn: int) -> Any:
        if subject == "tf_keras" and what == "try_shard" and turn > 1:
            return tasks.SubjectGone("the folder of its release is gone")
        return healthy(what, subject, turn)

    with campaign(answer, subjects=("keras", "tf_keras"), trials=60 * SIZE) as (engine, workers, heard):
        engine.run()
    lost = [event for event in heard if isinstance(event, SubjectLost)]
    assert [(event.subject, "the folder of its release is gone" in event.reason) for event in lost] == [
        ("tf_keras", True)
    ]
    asked = [subject for what, subject, turn in workers.asked if what == "try_shard"]
    assert asked.count("tf_keras") == 2 + ATTEMPTS * FAILURES
    assert asked.count("keras") > 20


def test_a_fault_of_ours_costs_its_shard_and_nothing_else() -> None:
    def answer(what: str, subject: str, turn: int) -> Any:
        if turn == 1:
            return tasks.OurFault("ValueError: no such thing (at trial.py:9)")
        if turn == 2:
            raise ValueError("this cannot be read")
        return healthy(what, subject, turn)

    with campaign(answer, trials=5 * SIZE, jobs=2) as (engine, workers, heard):
        ending = engine.run()
    assert [event.turn for event in heard if isinstance(event, ShardLost)] == [1, 2]
    assert [each.split(":")[0:2] for each in ending.failures] == [
        ["keras", " shard 1 cannot be tried"],
        ["keras", " shard 2 cannot be tried"],
    ]
    assert sorted(turn for what, _, turn in workers.asked if what == "try_shard") == [0, 1, 2, 3, 4]


def test_the_budget_begins_with_the_first_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    later = 0.0  # by a clock that goes on when something is asked for: an hour to start, a minute for a shard
    monkeypatch.setattr(engines, "time", SimpleNamespace(monotonic=lambda: time.monotonic() + later))

    def answer(what: str, subject: str, turn: int) -> Any:
        nonlocal later
        later += 3600.0 if what == "start_subject" else 60.0
        return healthy(what, subject, turn)

    with campaign(answer, subjects=("keras", "tf_keras"), minutes=9) as (engine, workers, _):
        engine.run()
    tried = [subject for what, subject, _ in workers.asked if what == "try_shard"]
    assert set(tried) == {"keras", "tf_keras"}
    assert len(tried) <= 10


def _glass() -> Answer:
    """A cause that the first three shards show, and that does not show again; beside it one that does."""
    glass, steel = (
        Finding(f"made-of-{name}", name, "keras", "upstream", GRAPH, (), "", subject="keras")
        for name in ("glass", "steel")
    )
    raw_findings = WrittenFinding(glass), WrittenFinding(steel)

    def answer(what: str, subject: str, turn: int, key: Any = None) -> Any:
        if what == "make_smaller":
            return MadeSmaller(subject, key, turn, steel if key == STEEL else None)
        done = healthy(what, subject, turn)
        if what == "try_shard" and turn < 3 and subject == "keras":
            return msgspec.structs.replace(done, raw_findings=raw_findings, met=((KEY, 1), (STEEL, 1)))
        return done

    return answer


def test_what_does_not_show_again_is_told_once() -> None:
    with campaign(_glass(), trials=6 * SIZE) as (engine, workers, heard):
        engine.run()
    assert [what for what, _, _ in workers.asked].count("make_smaller") > 1
    assert [(event.title, event.seen is not None) for event in heard if isinstance(event, Unsteady)] == [
        ("glass", True)
    ]


def test_nothing_is_settled_before_every_subject_is_met() -> None:
    glass = _glass()
    order: list[str] = []

    def answer(what: str, subject: str, turn: int, key: Any = None) -> Any:
        if what == "start_subject" and subject == "tf_keras":
            until(lambda: order.count("try_shard keras") > 4)  # it is installed
        order.append(f"{what} {subject}")
        return glass(what, subject, turn, key)

    with campaign(answer, subjects=("keras", "tf_keras"), jobs=2, trials=40 * SIZE) as (engine, _, _):
        engine.run()
    assert (
        order.index("make_smaller keras") > order.index("start_subject tf_keras") > order.index("try_shard keras") + 3
    )


def test_a_cluster_without_workers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "WAIT", 0.2)
    monkeypatch.setattr(engines, "COUNT", 0.05)
    with campaign(healthy, jobs=0, trials=SIZE) as (engine, _, _):
        ending = engine.run()
    assert "no worker" in ending.failures[0]


PIECES = 6
"""As many it takes until a finding is as small as it gets."""
SHARD = 20.0
"""The seconds that a shard takes, which are made up."""


def _finds(*keys: Any, until: int = 1) -> Answer:
    """Causes that the first shards show, and that get smaller piece by piece. What takes how long is made up."""
    pieces: dict[Any, int] = dict.fromkeys(keys, 0)
    findings = {key: Finding(key[1], key[1], "keras", "upstream", GRAPH, (), "", subject="keras") for key in keys}

    def answer(what: str, subject: str, turn: int, key: Any = None) -> Any:
        if what == "make_smaller":
            pieces[key] += 1
            rest = "1" * pieces[key] if pieces[key] < PIECES else None
            finding = msgspec.structs.replace(findings[key], smallest=rest is None, proof=True)
            return MadeSmaller(subject, key, turn, finding, "import keras", 9, LEAST + SCRIPT, rest)
        done = healthy(what, subject, turn)
        if what == "start_subject" or turn >= until:
            return msgspec.structs.replace(done, seconds=SHARD) if what == "try_shard" else done
        raw_findings = tuple(
            WrittenFinding(msgspec.structs.replace(findings[key], smallest=False))
            for key in keys[turn :: max(1, until)]
        )
        return msgspec.structs.replace(
            done, seconds=SHARD, raw_findings=raw_findings, met=tuple((key, 1) for key in keys)
        )

    return answer


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_while_there_is_more_to_draw_at_most_a_quarter_of_the_time_makes_findings_smaller(jobs: int) -> None:
    with campaign(_finds(KEY, STEEL), jobs=jobs, trials=60 * SIZE) as (engine, _, heard):
        engine.run()
    drawing = reducing = 0.0
    turns = []
    for event in heard:
        match event:
            case ShardEnded(done=done):
                drawing += done.seconds
                turns.append("draws")
            case MadeSmaller(seconds=seconds):
                reducing += seconds
                turns.append("reduces")
                assert reducing <= (reducing + drawing) / 4 + 1e-9
    assert turns.count("draws") == 60
    assert turns.count("reduces") == 2 * PIECES, "there was time for all of it"
    assert turns[-1] == "draws", "it did not wait for the end of drawing"


def test_once_all_is_drawn_all_the_time_makes_findings_smaller() -> None:
    with campaign(_finds(KEY, STEEL), jobs=2, trials=2 * SIZE) as (engine, workers, heard):
        engine.run()
    small = {event.finding.id for event in heard if isinstance(event, Found) and event.finding.smallest}
    assert small == {KEY[1], STEEL[1]}
    assert {seconds for _, seconds in workers.pieces} == {None}, "and as much of it in a piece as it takes"


def test_a_piece_goes_on_where_the_one_before_ended() -> None:
    with campaign(_finds(STEEL), trials=40 * SIZE) as (engine, workers, _):
        engine.run()
    answers = [before.rest if before and before.rest else "" for before, _ in workers.pieces]
    assert answers == ["1" * number for number in range(PIECES)]
    assert [seconds for _, seconds in workers.pieces] == [
        LEAST,
        *(min(MOST, number * (LEAST + SCRIPT)) for number in range(1, PIECES)),
    ]


def test_what_is_found_is_told_before_anything_is_done_about_it() -> None:
    with campaign(_finds(KEY, STEEL, until=2), trials=40 * SIZE) as (engine, _, heard):
        engine.run()
    told = [event for event in heard if isinstance(event, (Found, MakingSmaller))]
    seen = [event.finding for event in told if isinstance(event, Found) and event.first]
    assert [(each.id, each.smallest, each.proof) for each in seen] == [
        (KEY[1], False, None),
        (STEEL[1], False, None),
    ]
    about = [event for event in told if STEEL[1] in str(event)]
    assert about[0] == Found(seen[1], "", first=True)


def test_the_time_that_a_lost_task_took_counts() -> None:
    def answer(what: str, subject: str, turn: int, key: Any = None) -> Any:
        if what == "make_smaller":
            raise ValueError("this cannot be read")
        return glass(what, subject, turn)

    glass = _finds(KEY)
    with campaign(answer, trials=9 * SIZE) as (engine, _, heard):
        ending = engine.run()
    assert [each for each in ending.failures if "cannot be made smaller" in each]
    assert engine.time.reducing > 0
    assert engine.time.drawing == 9 * 20.0
