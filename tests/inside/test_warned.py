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


def test_a_warning_is_heard_once_whatever_is_counted_in_it() -> None:
    told = heard("layer dense_1 at 0x7fff00", "layer dense_12 at 0x8fff00").beside(Warned())
    assert [each["type"] for each in told] == ["UserWarning"]


def test_what_was_heard_before_is_no_news_but_in_another_category() -> None:
    assert heard("dense_1 is odd").beside(heard("dense_7 is odd")) == []
    assert len(heard("dense_1 is odd").beside(heard("dense_7 is odd", category=FutureWarning))) == 1


def test_what_was_heard_of_a_layer_that_is_called_otherwise_since_is_no_news() -> None:
    built = heard("layer 'padding' drops a mask")
    assert heard("layer 'renamed' drops a mask").beside(built) == []
    assert len(heard("layer 'renamed' drops a state").beside(built)) == 1


def test_an_apostrophe_is_no_quote() -> None:
    mask, tensor = (heard(f"The layer can't be saved: {each} isn't in its config.") for each in ("a mask", "an input"))
    assert len(mask.beside(tensor)) == 1
    left, right = (heard(f"Inputs don't match. Expected: ['{each}']") for each in ("left", "right"))
    assert left.beside(right) == []


def test_warnings_are_errors_again_afterwards() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        heard("one")
        with pytest.raises(UserWarning, match="two"):
            warnings.warn("two", UserWarning, stacklevel=1)


@pytest.mark.parametrize(
    "category",
    [
        DeprecationWarning,
        PendingDeprecationWarning,
        ImportWarning,
        ResourceWarning,
        type("Own", (DeprecationWarning,), {}),
    ],
)
def test_what_python_shows_nobody_is_not_heard(category: type[Warning]) -> None:
    assert heard("for whoever writes a library", category=category).beside(Warned()) == []


def test_however_much_building_warns_of_all_of_it_is_left_out() -> None:
    texts = ["".join(chr(ord("a") + int(digit)) for digit in str(number)) for number in range(50)]
    assert heard(*texts).beside(heard(*texts)) == []
    assert len(heard(*texts).beside(Warned())) == 20
