"""Choose the subjects of a nightly search, and report its findings on GitHub.

python .ci/night.py subjects NUMBER       print the options of nightly search NUMBER, as lines for $GITHUB_ENV
python .ci/night.py issues RUN            open an issue for each new finding that has none
python .ci/night.py gone ANSWERS          comment on each known issue of Keras that is gone

It needs `gh`, GitHub's command, on PATH, with a token that may write issues. ANSWERS is a file with the output of
`clonediff replay known --json`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from clonediff.reports.documents import issue
from clonediff.reports.known import load
from clonediff.reports.markup import escape_markdown
from clonediff.reports.run_folder import read_run
from clonediff.reports.verdict import NEW, group_findings

EVERY_NIGHT = ("keras-nightly", "keras", "tf_keras")
EVERY_THIRD_NIGHT = ("keras/torch", "keras/jax")
LABEL = "clonediff"
SHARED_ISSUE_TITLE = "Known issues of Keras that are gone on keras-nightly"
MAX_ISSUES = 20
"""How many issues one night may open. The report of the run has the other findings; usually one change causes all."""


def options(number: int) -> str:
    """The lines for $GITHUB_ENV: the subjects of a night, and the extras that they need."""
    names = EVERY_NIGHT + (EVERY_THIRD_NIGHT if number % 3 == 0 else ())
    extras = "[torch,jax]" if number % 3 == 0 else ""
    return f"SUBJECTS={' '.join(f'--subject {name}' for name in names)}\nEXTRAS={extras}"


def open_issues(run: Path) -> None:
    """Open an issue for each fingerprint that has no open or closed issue. Titles end with the fingerprint."""
    numbers = _issue_numbers()
    opened = 0
    for stored in group_findings(read_run(run).findings)[NEW]:
        finding = stored.finding
        if finding.id in numbers or opened == MAX_ISSUES:
            continue
        text = stored.issue or issue(finding, stored.script)
        title = f"{finding.title[:200]} [{finding.id}]"
        numbers[finding.id] = 0
        opened += 1
        sys.stdout.write(_gh("issue", "create", "--label", LABEL, "--title", title, "--body-file", "-", stdin=text))


def comment_on_gone_issues(answers: Path) -> None:
    """Comment on GitHub, once, on each known issue that is gone in a release that its header still lists.

    The comment goes to the GitHub issue with the same fingerprint, or else to an issue that all gone issues share.
    """
    known = load()
    numbers = _issue_numbers()
    for row in json.loads(answers.read_text(encoding="utf-8"))["replayed"]:
        known_issue = known.get(row["id"])
        versions = row["versions"]
        if known_issue is None or row["answer"] != "gone" or not known_issue.is_in(versions[known_issue.generation]):
            continue
        number = numbers.get(known_issue.fingerprint or "") or _shared_issue()
        mark = f"`{known_issue.id}` is gone"
        if mark not in _gh("issue", "view", str(number), "--json", "body,comments"):
            release = ", ".join(f"{name} {version}" for name, version in versions.items())
            text = f"{mark}: its script passes on {escape_markdown(release)}.\n\n{escape_markdown(known_issue.title)}\n"
            _gh("issue", "comment", str(number), "--body-file", "-", stdin=text)


def _issue_numbers() -> dict[str, int]:
    """The number of each issue that clonediff opened, by the fingerprint at the end of its title."""
    _gh("label", "create", LABEL, "--force", "--description", "found by the nightly search")
    listed = _gh("issue", "list", "--state", "all", "--label", LABEL, "--limit", "5000", "--json", "number,title")
    return {row["title"].rpartition("[")[2].removesuffix("]"): row["number"] for row in json.loads(listed)}


def _shared_issue() -> int:
    """The number of the shared GitHub issue, which is opened if necessary."""
    if SHARED_ISSUE_TITLE not in (numbers := _issue_numbers()):
        text = (
            "Each comment names a known issue that is gone. If the script in reports/known has no `until`, add one.\n"
        )
        _gh("issue", "create", "--label", LABEL, "--title", SHARED_ISSUE_TITLE, "--body-file", "-", stdin=text)
        numbers = _issue_numbers()
    return numbers[SHARED_ISSUE_TITLE]


def _gh(*arguments: str, stdin: str = "") -> str:
    process = subprocess.run(["gh", *arguments], input=stdin, text=True, stdout=subprocess.PIPE, check=True)
    return process.stdout


def main(task: str, argument: str) -> Any:
    """Run a task of the command line, "subjects", "issues" or "gone"."""
    match task:
        case "subjects":
            sys.stdout.write(f"{options(int(argument))}\n")
        case "issues":
            open_issues(Path(argument))
        case "gone":
            comment_on_gone_issues(Path(argument))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(*sys.argv[1:])
