"""How long a cloner may take, by the processor's time: where it was all along, and that nothing holds it up."""

from __future__ import annotations

from contextlib import suppress

import pytest

from clonediff.harness.inside.cpu_limit import CloneTime, TooLong


def _spin() -> None:
    while True:
        _step()
        _another_step()


def _step() -> int:
    return sum(range(10))


def _another_step() -> int:
    return sum(range(10))


def _stubborn() -> None:
    for _ in range(2):
        with suppress(TooLong):
            _spin()
    _spin()


def test_what_never_ends_is_stopped_where_it_always_was() -> None:
    limit = CloneTime(0.1, 0.0)
    limit.model_is_there()
    with pytest.raises(TooLong) as caught, limit:
        _spin()
    assert caught.value.seconds == 0.1
    assert [name for _, name, _ in caught.value.frames][-2:] == [
        "test_what_never_ends_is_stopped_where_it_always_was",
        "_spin",
    ]


def test_what_catches_everything_is_stopped_all_the_same() -> None:
    limit = CloneTime(0.1, 0.0)
    limit.model_is_there()
    with pytest.raises(TooLong), limit:
        _stubborn()


def test_the_limit_grows_with_the_model_and_there_may_be_none() -> None:
    limit = CloneTime(0.1, 1e9)
    for _ in range(10_000):
        _step()
    limit.model_is_there()
    none = CloneTime(0.0, 1.0)
    none.model_is_there()
    for each in (limit, none):
        with each:
            for _ in range(1_000_000):
                _step()
