"""Warnings that are heard while a model is built, and while it is cloned."""

from __future__ import annotations

import warnings

import pytest

from clonediff.harness.inside.warned import Warned, leave_out


def heard(*texts: str, category: type[Warning] = UserWarning) -> Warned:
    warned = Warned()
    with warned.listening():
        for text in texts:
            warnings.warn(text, category, stacklevel=1)
    return warned


def test_a_warning_is_heard_once_whatever_is_counted_in_it() -> None:
    told = heard("layer dense_1 at 0x7fff00", "layer dense_12 at 0x8fff00").beside(Warned())
    assert [each["type"] for each in told] == ["UserWarning"]


def test_what_was_heard_before_is_no_news_but_in_another_category() -> None:
    assert heard("dense_1 is odd").beside(heard("dense_7 is odd")) == []
    assert len(heard("dense_1 is odd").beside(heard("dense_7 is odd", category=FutureWarning))) == 1


def test_warnings_are_errors_again_afterwards() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        heard("one")
        with pytest.raises(UserWarning, match="two"):
            warnings.warn("two", UserWarning, stacklevel=1)


def test_what_another_build_warns_of_is_left_out_of_what_a_cloner_warned_of() -> None:
    clones = {"one": {"warned": heard("a 1", "b 1")}, "other": {}}
    leave_out(clones, Warned(), lambda: warnings.warn("b 2", UserWarning, stacklevel=1))
    assert [each["message"] for each in clones["one"]["warned"]] == ["a 1"]
    assert clones["other"] == {}
