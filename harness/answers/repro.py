"""The script of a finding, what a run of it on its own shows, and one issue for all bugs of a root."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

from clonediff.harness.answers.targets import Target
from clonediff.harness.scripts.alone import ReplayAnswer, ScriptRunner
from clonediff.harness.scripts.reproducer import Script, ending_of, imports_clonediff
from clonediff.harness.subjects.releases import place_of
from clonediff.harness.subjects.subject import Subject
from clonediff.reports.documents import issue
from clonediff.reports.known import KNOWN_ISSUES, ROOTS, KnownIssue, KnownIssues, header_of
from clonediff.reports.known_index import NAMES, by_root, facts_of
from clonediff.reports.markup import fenced
from clonediff.reports.reading import read_finding
from clonediff.reports.records import DOES
from clonediff.strategies.program import Generation

FIXES = KNOWN_ISSUES.with_name("fixes")
IN_FULL = 3
"""How many scripts of a root its issue has in full: the smallest."""


def script_of(target: Target) -> Script:
    """The script beside a finding, or that of a known issue without its header."""
    if target.issue is not None:
        return Script(target.issue.code, target.issue.raises, sure=True)
    stored = read_finding(Path(target.where))
    root, detail = stored.finding.root, stored.finding.detail
    ending = ending_of(root) if root else detail.partition(":")[0]
    return Script(stored.script, ending, sure=True, with_clonediff=imports_clonediff(stored.finding.cloner))


def issue_of(target: Target) -> str:
    """The text of an issue for Keras' tracker."""
    if target.issue is None:
        stored = read_finding(Path(target.where))
        return stored.issue or issue(stored.finding, stored.script)
    known = target.issue
    because = f"{known.because}.\n\n" if known.because else ""
    links = "".join(f"{line}\n" for line in filter(None, (*known.lines, known.link)))
    return f"# {known.title}\n\n{because}{links}\n{fenced(known.code.rstrip(), 'python')}\n"


def run_on(script: Script, subject: Subject) -> tuple[ReplayAnswer, str]:
    """Run a script in a fresh process of a subject's release: what became of the break, and why, in a line."""
    with closing(ScriptRunner(subject, place_of(subject))) as runner:
        answer, reason = runner.answer(script)
    if answer is ReplayAnswer.BREAKS:
        return answer, f"it ends in {script.raises}, as it should"
    if answer is ReplayAnswer.UNKNOWN:
        return answer, reason
    return answer, f"it should end in {script.raises}, and {'ends in ' + reason if reason else 'passes'}"


def issue_of_root(name: str, known: KnownIssues, fixes: Path = FIXES) -> str | None:
    """The text of one issue for the bugs of a root that are still there; None where no root has the name."""
    root = name.removeprefix("tf-")
    generation: Generation = "tf_keras" if name.startswith("tf-") else "keras"
    of_root = dict(by_root(known, generation)).get(root, []) if root in ROOTS else []
    bugs = [bug for bug in of_root if bug.until is None]
    if not bugs:
        return None
    smallest = sorted(sorted(bugs, key=lambda bug: (len(bug.code.splitlines()), bug.id))[:IN_FULL], key=bugs.index)
    parts = [
        f"# `clone_model`: {ROOTS[root][:1].lower()}{ROOTS[root][1:]}",
        f"{len(bugs)} ways in which a clone of a {NAMES[generation]} model is not the model, with one root.",
        "## What it does to users",
        "\n".join(_worst_first(bugs)),
    ]
    if alike := sum(bug.loading for bug in bugs):
        parts.append(
            f"`load_model` fails alike for {alike} of the {len(bugs)}: a saved model is read back with the same bug."
        )
    parts += ["## Checklist", "\n".join(f"- [ ] {bug.title} (`{bug.id}`)" for bug in bugs)]
    parts += ["## What would fix it", "\n".join(_fixes(bugs, fixes)) or "No fix is known yet."]
    parts.append(f"## The {len(smallest)} smallest scripts")
    parts += [f"### {bug.id}\n\n{fenced(bug.code.rstrip(), 'python')}" for bug in smallest]
    return "\n\n".join(parts) + "\n"


def _worst_first(bugs: Sequence[KnownIssue]) -> Iterator[str]:
    for severity, does in DOES.items():
        of_it = [bug for bug in bugs if bug.severity is severity]
        if of_it:
            yield f"- The clone {does}, in {len(of_it)}:"
        for bug in of_it:
            facts = f" ({', '.join(facts_of(bug))})" if facts_of(bug) else ""
            yield f"  - {bug.title}{facts}\n    {bug.lines[0]}"


def _fixes(bugs: Sequence[KnownIssue], folder: Path) -> Iterator[str]:
    """A line for each fix that is at hand and mends some of the bugs."""
    for path in sorted(folder.glob("*.py")):
        text = path.read_text(encoding="utf-8")
        mended = sorted({bug.id for bug in bugs} & set(header_of(text, path).get("mends", ())))
        if mended:
            title = (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0]
            yield f"- {title} ({path.stem}: {', '.join(f'`{name}`' for name in mended)})"
