"""An exception as plain data: what it says is what went wrong first, however often it was raised again."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path

import pytest

from clonediff.harness.inside.failures import failure


def _fault() -> None:
    raise TypeError("could not locate 'transform'")


def _in_more_words() -> None:
    try:
        _fault()
    except TypeError as error:
        raise TypeError(f"Lambda could not be deserialized. Exception encountered: {error}")  # noqa: B904 - as Keras does


def _of_another_type() -> None:
    try:
        _fault()
    except TypeError as error:
        raise ValueError(f"no layer: {error}")  # noqa: B904 - as Keras does


class _Layer:
    @classmethod
    def from_config(cls) -> None:
        try:
            _fault()
        except TypeError as error:
            raise ValueError(f"Error when deserializing class: {error}")  # noqa: B904 - as Keras does


def _in_other_words() -> None:
    try:
        _fault()
    except TypeError:
        raise TypeError("no such layer")  # noqa: B904 - as Keras does


def _from_nothing() -> None:
    try:
        _fault()
    except TypeError as error:
        raise TypeError(f"when calling layer 'a': {error}") from None


@pytest.mark.parametrize(
    ("call", "message", "innermost"),
    [
        (_fault, "could not locate 'transform'", "_fault"),
        (_in_more_words, "could not locate 'transform'", "_fault"),
        (_of_another_type, "no layer: could not locate 'transform'", "_of_another_type"),
        (_Layer.from_config, "could not locate 'transform'", "_fault"),
        (_in_other_words, "no such layer", "_in_other_words"),
        (_from_nothing, "when calling layer 'a': could not locate 'transform'", "_from_nothing"),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
def test_an_exception_that_only_wraps_another_stands_back(
    call: Callable[[], None], message: str, innermost: str
) -> None:
    with pytest.raises((TypeError, ValueError)) as caught:
        call()
    said = failure(caught.value)
    assert said["message"] == message
    assert said["frames"][-1]["function"] == innermost


def test_a_frame_of_a_release_laid_over_others_is_told_from_its_package_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "laid_over").mkdir()
    (tmp_path / "laid_over" / "__init__.py").write_text("")
    (tmp_path / "laid_over" / "cloning.py").write_text("def clone():\n    raise ValueError('no')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ValueError, match="no") as caught:
        importlib.import_module("laid_over.cloning").clone()
    assert failure(caught.value)["frames"][-1]["file"] == "laid_over/cloning.py"
