"""How the fixed cloners read a config."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable

from clonediff.harness.inside.cloners.fixed.options import config_of


class Told:
    """Something that does this when its config is asked for."""

    def __init__(self, does: Callable[[], object]) -> None:
        self._does = does

    def get_config(self) -> dict[str, object]:
        self._does()
        return {}


def test_two_threads_that_read_configs_leave_the_filters_of_warnings_as_they_were() -> None:
    """By `warnings.catch_warnings`, the second would take those of the first for what it is to put back."""
    first_reads, second_reads, first_has_read = threading.Event(), threading.Event(), threading.Event()

    def first() -> None:
        config_of(Told(lambda: (first_reads.set(), second_reads.wait(0.2))))
        first_has_read.set()

    def second() -> None:
        first_reads.wait(5)
        config_of(Told(lambda: (second_reads.set(), first_has_read.wait(5))))

    before = list(warnings.filters)
    threads = [threading.Thread(target=each) for each in (first, second)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert list(warnings.filters) == before


def test_what_python_has_shown_it_does_not_show_again() -> None:
    def warn() -> None:
        warnings.warn("once a place", UserWarning, stacklevel=1)

    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("default")
        warn()
        config_of(Told(warn))
        warn()
    assert [str(each.message) for each in heard] == ["once a place"]


def test_filters_that_somebody_resets_meanwhile_are_not_missed() -> None:
    with warnings.catch_warnings():
        config_of(Told(warnings.resetwarnings))
        assert warnings.filters == []
