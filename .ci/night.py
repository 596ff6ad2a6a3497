"""What a night tries, and what it leaves on GitHub.

python .ci/night.py subjects NUMBER       the options of that night's search, as a line for $GITHUB_ENV
python .ci/night.py issues RUN            opens an issue for each new finding that has none
python .ci/night.py gone ANSWERS          comments where a known issue of Keras is gone

GitHub's `gh` has to be on PATH, with a token that may write issues. ANSWERS is what `clonediff replay known --json`
printed.
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

EACH_NIGHT = ("keras-nightly", "keras", "tf_keras")
EACH_THIRD_NIGHT = ("keras/torch", "keras/jax")
LABEL = "clonediff"
GONE = "Known issues of Keras that are gone on keras-nightly"
MOST = 20
"""The issues that one night may open: more have one cause, and are in its report."""


def subjects(number: int) -> str:
    """The subjects of a night, and the extras that it needs."""
    names = EACH_NIGHT + (EACH_THIRD_NIGHT if number % 3 == 0 else ())
    extras = "[torch,jax]" if number % 3 == 0 else ""
    return f"SUBJECTS={' '.join(f'--subject {name}' for name in names)}\nEXTRAS={extras}"


def open_issues(run: Path) -> None:
    """Open an issue for each fingerprint that has none, open or closed: its title ends with the fingerprint."""
    numbers = _numbers()
    opened = 0
    for stored in group_findings(read_run(run).findings)[NEW]:
        finding = stored.finding
        if finding.id in numbers or opened == MOST:
            continue
        text = stored.issue or issue(finding, stored.script)
        title = f"{finding.title[:200]} [{finding.id}]"
        numbers[finding.id] = 0
        opened += 1
        sys.stdout.write(_gh("issue", "create", "--label", LABEL, "--title", title, "--body-file", "-", stdin=text))


def say_what_is_gone(answers: Path) -> None:
    """Comment once on each known issue that a release no longer has, though its header does not say so yet.

    The comment is on the issue of its fingerprint, if there is one, or else on one for all of them.
    """
    known = load()
    numbers = _numbers()
    for row in json.loads(answers.read_text(encoding="utf-8"))["replayed"]:
        found = known.get(row["id"])
        versions = row["versions"]
        if found is None or row["answer"] != "gone" or not found.is_in(versions[found.generation]):
            continue
        number = numbers.get(found.fingerprint or "") or _number_of_gone()
        mark = f"`{found.id}` is gone"
        if mark not in _gh("issue", "view", str(number), "--json", "body,comments"):
            release = ", ".join(f"{name} {version}" for name, version in versions.items())
            text = f"{mark}: its script passes on {escape_markdown(release)}.\n\n{escape_markdown(found.title)}\n"
            _gh("issue", "comment", str(number), "--body-file", "-", stdin=text)


def _numbers() -> dict[str, int]:
    """The number of each of our issues, by the fingerprint at the end of its title."""
    _gh("label", "create", LABEL, "--force", "--description", "found by the nightly search")
    listed = _gh("issue", "list", "--state", "all", "--label", LABEL, "--limit", "5000", "--json", "number,title")
    return {each["title"].rpartition("[")[2].removesuffix("]"): each["number"] for each in json.loads(listed)}


def _number_of_gone() -> int:
    """The issue for those that are gone, which is opened when it is first needed."""
    if GONE not in (numbers := _numbers()):
        text = "Where the header of a script in reports/known has no `until` yet, it may be given one.\n"
        _gh("issue", "create", "--label", LABEL, "--title", GONE, "--body-file", "-", stdin=text)
        numbers = _numbers()
    return numbers[GONE]


def _gh(*arguments: str, stdin: str = "") -> str:
    ended = subprocess.run(["gh", *arguments], input=stdin, text=True, stdout=subprocess.PIPE, check=True)
    return ended.stdout


def main(task: str, of: str) -> Any:
    """Do a task."""
    match task:
        case "subjects":
            sys.stdout.write(f"{subjects(int(of))}\n")
        case "issues":
            open_issues(Path(of))
        case "gone":
            say_what_is_gone(Path(of))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(*sys.argv[1:])
