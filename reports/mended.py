"""What is mended since the release that known issues were read in: the good news of a run on a later release."""

from __future__ import annotations

from clonediff.reports.records import KnownMet, Run
from clonediff.reports.verdict import some


def mended(run: Run) -> dict[str, list[KnownMet]]:
    """The known issues that are mended, under a sentence that says since when, and how many there are."""
    found: dict[tuple[str, str], list[KnownMet]] = {}
    for each in run.known or ():
        if each.mended_after:
            found.setdefault((each.mended_after, each.where), []).append(each)
    many = len({where for _, where in found}) > 1
    said: dict[str, list[KnownMet]] = {}
    for (release, where), issues in found.items():
        on = f" on {where}" if many else ""
        said[f"Mended since {release}{on}: {some(len(issues), 'known issue')}"] = issues
    return said


def named(issue: KnownMet) -> str:
    """A known issue by its title and its id."""
    return f"{' '.join(issue.title.split())} [{issue.id}]"
