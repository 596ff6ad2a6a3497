"""What of a file is the proposal. Nothing of it is run."""

from __future__ import annotations

from pathlib import Path

import pytest

from clonediff.harness.judge.reading import Proposal, UnreadableError, read_proposal, read_text

FUNCTIONS = ("_clone_functional_model", "_clone_sequential_model", "clone_model")
FIX = "def clone_model(model):\n    return helped(model)\n"
HELPER = "def helped(model):\n    return model\n"
DIFF = "--- a/keras/models.py\n+++ b/keras/models.py\n@@ -1 +1 @@\n-a\n+b\n"


def read(text: str, name: str = "answer.md") -> Proposal:
    return read_proposal(name, text, FUNCTIONS)


def fenced(*blocks: str) -> str:
    return "The cause:\n\n" + "\n\nand\n\n".join(f"```python\n{block}```" for block in blocks)


@pytest.mark.parametrize(
    ("name", "text", "form", "parts"),
    [
        pytest.param("fix.py", FIX, "code", [FIX], id="a Python file"),
        pytest.param("fix.py", "def clone_model(model\n", "code", ["def clone_model(model\n"], id="one with a mistake"),
        pytest.param("answer", FIX, "code", [FIX], id="Python without a suffix"),
        pytest.param("fix.patch", DIFF, "diff", [DIFF], id="a diff"),
        pytest.param("answer.txt", f"Apply this:\n\n{DIFF}", "diff", [f"Apply this:\n\n{DIFF}"], id="a diff in a text"),
        pytest.param("answer.md", fenced("x = 1\n", FIX), "code", [FIX], id="the block that defines it"),
        pytest.param("answer.md", fenced(FIX.replace("helped", "old"), FIX), "code", [FIX], id="the last of several"),
        pytest.param("answer.md", fenced(FIX, "def clone_model(model,\n"), "code", [FIX], id="the last that parses"),
        pytest.param("answer.md", fenced(HELPER, FIX), "code", [HELPER, FIX], id="with what it uses"),
        pytest.param("answer.md", f"```diff\n{DIFF}```\n", "diff", [DIFF], id="a diff in a block"),
        pytest.param("answer.md", f"1. so:\n\n    ```\n    {FIX.splitlines()[0]}\n        pass\n    ```\n", "code",
                     ["def clone_model(model):\n    pass\n"], id="a block that is indented"),
        pytest.param("answer.md", f"```\n{FIX}", "code", [FIX], id="a block without an end"),
    ],
)  # fmt: skip
def test_what_is_proposed(name: str, text: str, form: str, parts: list[str]) -> None:
    proposal = read(text, name)
    assert (proposal.form, [part.text for part in proposal.parts], proposal.problem) == (form, parts, "")


def test_the_line_of_a_block_is_that_of_the_file() -> None:
    text = fenced(FIX)
    proposal = read(text)
    assert text.splitlines()[proposal.parts[0].line - 1] == FIX.splitlines()[0]
    assert proposal.taken == f"the code at line {proposal.parts[0].line}"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("No idea.", "no code in it", id="no code"),
        pytest.param(
            fenced(HELPER), "it defines none of the release's cloning functions (_clone_", id="other functions"
        ),
    ],
)
def test_nothing_to_put_anywhere_is_a_verdict(text: str, said: str) -> None:
    assert said in read(text).problem


def test_what_is_no_text_is_said(tmp_path: Path) -> None:
    (tmp_path / "bytes.py").write_bytes(b"\xff\xfe\xfa")
    for name, said in (("missing.py", "cannot be read: No such file"), ("bytes.py", "not UTF-8")):
        with pytest.raises(UnreadableError, match=said):
            read_text(tmp_path / name)
