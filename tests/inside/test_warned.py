"""Warnings that are heard while a model is built, and while it is cloned."""

from __future__ import annotations

import warnings

import pytest

from clonediff.harness.inside.warned import Warned


def heard(*texts: str, category: type[Warning] = UserWarning) -> Warned:
    warned = Warned()
    with warned.listening():
        for text in texts:
            warnings.warn(text, category, stacklevel=1)
    return warned


LETTERS = ["".join(chr(ord("a") + int(digit)) for digit in str(number)) for number in range(50)]


@pytest.mark.parametrize(
    ("warned", "before", "count"),
    [
        pytest.param(["layer dense_1 at 0x7fff00", "layer dense_12 at 0x8fff00"], [], 1, id="counted"),
        pytest.param(["dense_1 is odd"], ["dense_7 is odd"], 0, id="heard-before"),
        pytest.param(["layer 'renamed' drops a mask"], ["layer 'padding' drops a mask"], 0, id="of-another-name"),
        pytest.param(["layer 'renamed' drops a state"], ["layer 'padding' drops a mask"], 1, id="of-something-else"),
        pytest.param(["It can't be saved: a mask isn't there"], ["It can't be saved: an input isn't there"], 1, id="'"),
        pytest.param(["Inputs don't match: ['left']"], ["Inputs don't match: ['right']"], 0, id="quoted"),
        pytest.param(LETTERS, LETTERS, 0, id="many-heard-before"),
        pytest.param(LETTERS, [], 20, id="many"),
    ],
)
def test_what_was_not_heard_before_is_news(warned: list[str], before: list[str], count: int) -> None:
    assert len(heard(*warned).beside(heard(*before))) == count


def test_a_warning_of_another_category_is_news() -> None:
    assert heard("dense_1 is odd").beside(heard("dense_7 is odd", category=FutureWarning))


@pytest.mark.parametrize("category", [DeprecationWarning, ImportWarning, type("Own", (ResourceWarning,), {})])
def test_what_python_shows_nobody_is_not_heard(category: type[Warning]) -> None:
    assert heard("for whoever writes a library", category=category).beside(Warned()) == []


def test_warnings_are_errors_again_afterwards() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        heard("one")
        with pytest.raises(UserWarning):
            warnings.warn("two", UserWarning, stacklevel=1)
