"""An exception as plain data: what it says is what went wrong first, however often it was raised again."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path

import pytest

from clonediff.harness.inside.failures import failure


def fault() -> None:
    raise TypeError("could not locate 'transform'")


def raised_again(kind: type[Exception], message: str, function: str = "again", end: str = "") -> Callable[[], None]:
    """A function of that name that raises what Keras makes of a fault."""
    text = f"def {function}():\n try:\n  fault()\n except TypeError as error:\n  raise kind(message.format(error)){end}"
    names = {"fault": fault, "kind": kind, "message": message}
    exec(text, names)  # noqa: S102 - one line of it is another each time
    return names[function]  # type: ignore[return-value]  # it is what the text defines


CASES = {
    "the fault": (fault, "could not locate 'transform'", "fault"),
    "in more words": (raised_again(TypeError, "Exception encountered: {}"), "could not locate 'transform'", "fault"),
    "of another type": (raised_again(ValueError, "no layer: {}"), "no layer: could not locate 'transform'", "again"),
    "by from_config": (
        raised_again(ValueError, "Error when deserializing: {}", "from_config"),
        "could not locate 'transform'",
        "fault",
    ),
    "in other words": (raised_again(TypeError, "no such layer"), "no such layer", "again"),
    "from None": (
        raised_again(TypeError, "in 'a': {}", end=" from None"),
        "in 'a': could not locate 'transform'",
        "again",
    ),
}


@pytest.mark.parametrize(("call", "message", "innermost"), CASES.values(), ids=CASES)
def test_an_exception_that_only_wraps_another_stands_back(
    call: Callable[[], None], message: str, innermost: str
) -> None:
    with pytest.raises((TypeError, ValueError)) as caught:
        call()
    told = failure(caught.value)
    assert (told["message"], told["frames"][-1]["function"]) == (message, innermost)


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
