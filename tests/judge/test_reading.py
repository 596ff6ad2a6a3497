"""What of a file is the proposal. Nothing of it is run."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from clonediff.harness.judge.reading import UnreadableError, fenced, parsed, read_proposal, read_text
from tests.judge.texts import HOLLOW, MENDS, answer

FUNCTIONS = ("_clone_functional_model", "_clone_sequential_model", "clone_model")
DIFF = "--- a/keras/models.py\n+++ b/keras/models.py\n@@ -1 +1 @@\n-a\n+b\n"


def test_a_python_file_is_taken_whole() -> None:
    proposal = read_proposal("fix.py", MENDS, FUNCTIONS)
    assert (proposal.form, proposal.problem) == ("python", "")
    assert [part.text for part in proposal.parts] == [MENDS]
    assert proposal.taken == "the whole file, with `_clone_functional_model`"


def test_a_text_that_is_python_needs_no_suffix() -> None:
    assert read_proposal("answer", MENDS, FUNCTIONS).form == "python"


def test_a_python_file_that_does_not_parse_is_for_its_own_python_to_judge() -> None:
    proposal = read_proposal("fix.py", "def clone_model(model)\n    print model\n", FUNCTIONS)
    assert proposal.problem == ""
    assert len(proposal.parts) == 1


def test_the_code_block_of_an_answer_keeps_its_lines() -> None:
    text = answer(MENDS)
    proposal = read_proposal("answer.txt", text, FUNCTIONS)
    (part,) = proposal.parts
    assert part.text == MENDS
    assert text.split("\n")[part.line - 1] == MENDS.split("\n")[0]
    assert proposal.taken == "the code block at line 11, with `_clone_functional_model` (of 2 blocks)"


def test_of_several_that_define_it_the_last_complete_one_is_taken() -> None:
    first, last = f"```\n{HOLLOW}```\n", f"```py\n{MENDS}```\n"
    cut = "```\ndef _clone_functional_model(model,\n```\n"
    unclosed = f"```\n{HOLLOW}"
    text = "\n".join((first, last, cut, unclosed))
    (part,) = read_proposal("answer.md", text, FUNCTIONS).parts
    assert part.text == MENDS


def test_where_none_is_complete_the_last_is_taken_for_its_python_to_refuse() -> None:
    text = "```\ndef clone_model(model:\n```\nor\n```\ndef clone_model(model\n```\n"
    (part,) = read_proposal("answer.md", text, FUNCTIONS).parts
    assert part.text == "def clone_model(model\n"


def test_each_function_is_taken_from_its_own_block() -> None:
    text = "```\ndef clone_model(model):\n    pass\n```\nand\n```\ndef _clone_sequential_model(model):\n    pass\n```\n"
    assert len(read_proposal("answer.md", text, FUNCTIONS).parts) == 2


def test_a_block_of_definitions_that_it_uses_comes_along_and_an_example_does_not() -> None:
    blocks = (
        "def masks_of(layer):\n    return None\n",
        "def clone_model(model):\n    return masks_of(model)\n",
        "model = keras.Sequential()\nclone_model(model)\n",
        "def unrelated():\n    pass\n",
    )
    text = "\n".join(f"```\n{block}```\n" for block in blocks)
    assert [part.text for part in read_proposal("answer.md", text, FUNCTIONS).parts] == list(blocks[:2])


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("1. do this:\n\n" + textwrap.indent(f"```python\n{HOLLOW}```\n", "   "), id="in a list"),
        pytest.param("Do this:\n\n" + textwrap.indent(f"```python\n{HOLLOW}```\n", "        "), id="far in"),
        pytest.param("My fix:\n" + textwrap.indent(f"```python\n{HOLLOW}```\n", "    "), id="under a sentence"),
        pytest.param("- My fix:\n" + textwrap.indent(f"```python\n{HOLLOW}```\n", "      "), id="under a list item"),
        pytest.param(
            "    In it:\n\n" + textwrap.indent(f"```python\n{HOLLOW}```\n", "        "), id="in code that is indented"
        ),
        pytest.param(f"In the class:\n\n```python\n{textwrap.indent(HOLLOW, '    ')}```\n", id="indented code"),
        pytest.param("> Do:\n>\n" + textwrap.indent(f"```python\n{HOLLOW}```\n", "> "), id="quoted"),
        pytest.param(f"<details>\n```python\n{HOLLOW}```\n</details>\n", id="in HTML"),
    ],
)
def test_a_block_is_read_without_its_indentation(text: str) -> None:
    (part,) = read_proposal("answer.md", text, FUNCTIONS).parts
    assert part.text == HOLLOW
    assert HOLLOW.split("\n")[0] in text.split("\n")[part.line - 1]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        pytest.param("fix.patch", DIFF, id="by suffix"),
        pytest.param("fix", f"From 123\nSubject: fix\n\n{DIFF}", id="a mail"),
        pytest.param("answer.txt", f"Apply this:\n```diff\n{DIFF}```\n", id="a block"),
    ],
)
def test_a_diff_is_known_as_one(name: str, text: str) -> None:
    proposal = read_proposal(name, text, FUNCTIONS)
    assert proposal.form == "diff"
    assert DIFF in proposal.text


@pytest.mark.parametrize("form", ["{}", "Apply this:\n```diff\n{}```\n"], ids=["a file", "a block"])
def test_a_blank_line_at_the_end_of_a_diff_is_kept(form: str) -> None:
    text = "--- a/keras/models.py\n+++ b/keras/models.py\n@@ -1,2 +1,2 @@\n-a\n+b\n\n"
    assert read_proposal("answer.txt", form.format(text), FUNCTIONS).text == text


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        pytest.param("a.py", "def other(model):\n    pass\n", "it defines `other`", id="python"),
        pytest.param("a.txt", "```\ndef other(model):\n    pass\n```\n", "it defines `other`", id="block"),
        pytest.param("a.txt", "You should call compute_mask.", "no code in it", id="prose"),
        pytest.param("a.txt", "", "none of the release's cloning functions", id="nothing"),
    ],
)
def test_a_file_without_the_function_says_so(name: str, text: str, said: str) -> None:
    proposal = read_proposal(name, text, FUNCTIONS)
    assert said in proposal.problem
    assert not proposal.parts


@pytest.mark.parametrize(
    "text",
    [
        "-" * 200_000 + "1",
        "(" * 100_000,
        "x\0y",
        "a." * 200_000 + "b",
        "lambda:" * 100_000 + "1",
        "```" * 1000,
        " " * 4000 + "x",
    ],
    ids=["minus", "brackets", "null", "dots", "lambdas", "fences", "far in"],
)
def test_a_text_made_to_break_a_parser_is_read(text: str) -> None:
    parsed(text)
    assert read_proposal("a.txt", text, FUNCTIONS).problem


def test_a_fence_ends_with_one_like_it() -> None:
    blocks = fenced("````\n```\ninner\n```\n````\n~~~\ntilde\n~~~\n")
    assert [block.text for block in blocks] == ["```\ninner\n```\n", "tilde\n"]


def test_a_fence_without_an_end_is_not_closed_by_one_that_opens() -> None:
    assert [block.closed for block in fenced("```\ninner\n```\n```\ninner\n```python")] == [True, False]


def test_lines_of_windows_are_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"\xef\xbb\xbfdef clone_model(model):\r\n    pass\r\n")
    assert read_text(path) == "def clone_model(model):\n    pass\n"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param(None, "No such file", id="missing"),
        pytest.param(b"\xff\xfe\xfa", "not UTF-8", id="bytes"),
        pytest.param(b"#" * (1 << 21), "larger than 1024 KiB", id="large"),
    ],
)
def test_a_file_that_is_no_text_is_told_with_its_name(content: bytes | None, said: str, tmp_path: Path) -> None:
    path = tmp_path / "fix.py"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UnreadableError, match=said) as raised:
        read_text(path)
    assert str(path) in str(raised.value)


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match="Is a directory"):
        read_text(tmp_path)
