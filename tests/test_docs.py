"""The pages are right: commands of the guides print what is shown, no link is broken, every command is named.

A block whose first line is a file name, such as `# model.py`, becomes this file. Each command of a console block is
run, and has to print the output that is shown. A hidden comment before a block says `exits with N`, or `not run:` and
the reason.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from clonediff.reports.known import load
from clonediff.strategies.program import to_json
from tests.helpers.campaigns import HIDDEN_ISSUE, add_to_corpus, hide_issues
from tests.helpers.command_line import Command, run_clonediff
from tests.helpers.example_counts import runs_all_tests
from tests.helpers.example_graphs import graph_of_issue
from tests.helpers.required_releases import search_path_or_skip
from tests.helpers.waiting import PATIENCE

pytestmark = pytest.mark.no_keras

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
README = ROOT / "README.md"
PAGES = (README, ROOT / "CONTRIBUTING.md", ROOT / "ARCHITECTURE.md", *sorted(DOCS.glob("*.md")))
FAST_CONFTEST = """
from hypothesis import Phase, settings

settings.register_profile("few", max_examples=10, derandomize=True, phases=[Phase.generate])
settings.load_profile("few")
"""
"""Settings for the tests in a guide: draw few models, and do not shrink a failing one."""

DAY_GUIDES = ("my-model", "maintaining-keras")
GUIDES = (*DAY_GUIDES, "layers-and-cloners")
SLOW = pytest.mark.slow(reason="its commands start many Keras processes; tests/cli tests the same commands by day")

_BLOCK = re.compile(r"((?:^<!-- [^\n]* -->\n)*)^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)#\s:]*)(?:#([\w-]+))?\)")


class Block(NamedTuple):
    language: str
    text: str
    exit_code: int
    not_run: bool


class ShownCommand(NamedTuple):
    command: str
    output: list[str]


def blocks(page: Path) -> Iterator[Block]:
    for notes, language, text in _BLOCK.findall(page.read_text(encoding="utf-8")):
        code = re.search(r"<!-- exits with (\d+) -->", notes)
        yield Block(language, text, int(code[1]) if code else 0, "<!-- not run: " in notes)


def commands(text: str) -> list[ShownCommand]:
    """Return the commands in a console block, each with the output that is shown."""
    found: list[ShownCommand] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append(ShownCommand(line[2:], []))
        elif line != "...":
            found[-1].output.append(line)
    return found


def test_nearly_all_commands_of_the_guides_are_run() -> None:
    consoles = [block for guide in GUIDES for block in blocks(DOCS / f"{guide}.md") if block.language == "console"]
    assert len(consoles) > 10
    assert sum(block.not_run for block in consoles) <= 3


Run = Callable[[str, int], str]


@pytest.fixture
def run(clonediff: Command, warm_commands: None, tmp_path: Path) -> Run:
    """Return a function that runs a command, asserts its exit code, and returns its output.

    A search that should exit with 1 starts with a graph whose cause is missing from its known issues.
    """

    def run_command(command: str, code: int) -> str:
        program, *arguments = shlex.split(command)
        for release in re.findall(r"\bkeras==[\d.]+", command):
            search_path_or_skip(release)
        if arguments[0] == "fuzz":
            if code:
                add_to_corpus(tmp_path / "runs" / "corpus", to_json(graph_of_issue(HIDDEN_ISSUE)))
            hidden = [HIDDEN_ISSUE] if code else []
            options = ["--known-issues", str(hide_issues(tmp_path, *hidden))]
            short = re.sub(r"--minutes \d+", "--trials 3", " ".join(arguments)).split(" ")
            result = run_clonediff(*short, *options, "--jobs", "1", cwd=tmp_path)
        elif program == "clonediff":
            result = subprocess.CompletedProcess(command, *clonediff(*arguments, cwd=tmp_path))
        else:
            start = {"pytest": ["-m", "pytest", "-p", "no:cacheprovider"], "python": []}[program]
            line = [sys.executable, *start, *arguments]
            result = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False)
        assert result.returncode == code, f"{command}\n{result.stdout}\n{result.stderr}"
        return result.stdout

    return run_command


@pytest.mark.parametrize("guide", [*DAY_GUIDES, pytest.param("layers-and-cloners", marks=SLOW)])
def test_the_commands_of_a_guide_print_what_it_shows(guide: str, run: Run, tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(FAST_CONFTEST)
    for block in blocks(DOCS / f"{guide}.md"):
        file = re.match(r"# ([\w.]+)\n", block.text)
        if file is not None:
            (tmp_path / file[1]).write_text(block.text, encoding="utf-8")
        elif block.language == "console" and not block.not_run:
            for command, output in commands(block.text):
                if "keras==" in command and not runs_all_tests():
                    continue  # releases are only installed at night
                printed = _without_numbers(run(command, block.exit_code))
                for line in output:
                    assert _without_numbers(line) in printed, f"{command} does not print {line!r}, but\n{printed}"


def _without_numbers(text: str) -> str:
    """Replace numbers and white space, which differ between runs."""
    return re.sub(r"\d+", "N", " ".join(text.split()))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_link_is_broken(page: Path) -> None:
    links = _LINK.findall(page.read_text(encoding="utf-8"))
    missing = [path for path, _ in links if path and not (page.parent / path).exists()]
    assert missing == []
    for path, anchor in links:
        target = page.parent / path if path else page
        assert not anchor or anchor in anchors(target), f"{target.name} has no heading {anchor}"


def anchors(page: Path) -> set[str]:
    """Return the headings of a page in the form that GitHub uses in links."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_reference_names_every_command(clonediff: Command) -> None:
    text = (DOCS / "reference.md").read_text(encoding="utf-8")
    names = re.findall(r"^  (\w+)  ", clonediff("--help")[1].partition("Commands:\n")[2], re.MULTILINE)
    assert sorted(re.findall(r"^\| `clonediff (\w+)` \|", text, re.MULTILINE)) == names != []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_commands_on_a_page_and_their_options_exist(page: Path, clonediff: Command) -> None:
    for words in map(shlex.split, commands_on(page)):
        code, text, _ = clonediff(words[1], "--help")
        assert code == 0, words
        assert {word for word in words if word.startswith("--")} <= {*re.findall(r"--[\w-]+", text)}, words


def commands_on(page: Path) -> Iterator[str]:
    """Yield the commands of clonediff on a page, in console blocks and in its text."""
    for block in blocks(page):
        for shown in commands(block.text) if block.language == "console" else ():
            yield from re.findall(r"clonediff \w.*", shown.command)
    yield from re.findall(r"`(clonediff [a-z][^`\n]*)`", page.read_text(encoding="utf-8"))


def test_ci_runs_the_two_commands_of_the_readme() -> None:
    search, tests = (shown.command for block in blocks(README) if "pip" in block.text for shown in commands(block.text))
    ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert search.startswith("pip install -e . && clonediff fuzz ")
    assert "clonediff fuzz " in ci
    for part in tests.split(" && "):
        assert f'step "{part}' in ci


def test_the_bugs_of_the_readme_are_open_known_issues() -> None:
    (ids,) = [words.split()[2:] for words in commands_on(README) if words.startswith("clonediff replay lambda")]
    assert len(ids) == 5
    assert all(load().get(name).until is None for name in ids)


def test_the_readme_has_at_most_a_hundred_lines() -> None:
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 100
