"""Run the script of a finding, and write issues of findings and root causes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

from clonediff.harness.answers.targets import Target
from clonediff.harness.scripts.reproducer import Script
from clonediff.harness.scripts.runner import ReplayAnswer, ScriptRunner
from clonediff.harness.subjects.releases import search_path_of
from clonediff.harness.subjects.subject import Subject
from clonediff.reports.documents import issue, template
from clonediff.reports.known import KNOWN_ISSUES, ROOTS, KnownIssues, header_of
from clonediff.reports.known_index import GENERATION_NAMES, facts_of, group_by_root
from clonediff.reports.markup import code_block
from clonediff.reports.records import EFFECTS
from clonediff.strategies.program import Generation

FIXES_FOLDER = KNOWN_ISSUES.with_name("fixes")
MAX_SCRIPTS = 3
"""How many scripts the issue of a root cause shows."""


def issue_of(target: Target) -> str:
    """The text of an issue for Keras, from a finding or a known issue."""
    if target.finding is not None:
        return issue(target.finding, target.finding.source)
    assert target.issue is not None
    known = target.issue
    reason = f"{known.reason}.\n\n" if known.reason else ""
    links = "".join(f"{line}\n" for line in filter(None, (*known.lines, known.link)))
    return f"# {known.title}\n\n{reason}{links}\n{code_block(known.code.rstrip(), 'python')}\n"


def run_script(script: Script, subject: Subject) -> tuple[ReplayAnswer, str]:
    """Run a script on a subject; return the answer and its text."""
    with closing(ScriptRunner(subject, search_path_of(subject))) as runner:
        answer, reason = runner.answer(replace(script, must_fail=True))
    if answer is ReplayAnswer.BREAKS:
        return answer, f"reproduced: it fails with {script.raises}"
    if answer is ReplayAnswer.UNKNOWN:
        return answer, f"cannot be run: {reason}"
    result = f"fails with {reason}" if reason else "passes"
    return answer, f"not reproduced: expected {script.raises}, but it {result}"


def issue_of_root(name: str, known: KnownIssues) -> str | None:
    """One issue for all open bugs of a root cause, or None."""
    root = name.removeprefix("tf-")
    generation: Generation = "tf_keras" if name.startswith("tf-") else "keras"
    bugs = [bug for bug in dict(group_by_root(known, generation)).get(root, []) if bug.until is None]
    if not bugs:
        return None
    smallest_bugs = sorted(bugs, key=lambda bug: (len(bug.code.splitlines()), bug.id))[:MAX_SCRIPTS]
    return template("root_issue.md.j2", str).render(
        title=ROOTS[root],
        generation=GENERATION_NAMES[generation],
        bugs=bugs,
        smallest_bugs=sorted(smallest_bugs, key=bugs.index),
        fixes=list(_fixes({bug.id for bug in bugs})),
        effects=EFFECTS,
        facts_of=facts_of,
    )


def _fixes(bugs: set[str]) -> Iterator[tuple[str, str, list[str]]]:
    """Yield the name, title and fixed bugs of each fix of these bugs."""
    for path in sorted(FIXES_FOLDER.glob("*.py")):
        text = path.read_text(encoding="utf-8")
        if fixed := sorted(bugs & set(header_of(text, path).get("fixes", ()))):
            yield path.stem, (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0], fixed
