"""How far into Keras' own cloning code a run came, in words and as part of the page."""

from __future__ import annotations

from clonediff.reports.markup import Markup, join, tag
from clonediff.reports.records import FileReached, Run


def share(file: FileReached) -> str:
    """How much of a file ran."""
    return f"{file.ran / file.statements:.0%}" if file.statements else "all"


def reach(run: Run) -> Markup:
    """A table for each subject, with what no trial ran below each file; nothing where that was not counted."""
    return join([_subject(subject, files) for subject, files in run.reach.items()])


def _subject(subject: str, files: tuple[FileReached, ...]) -> Markup:
    said = f"What trials ran of the cloning code of {subject}, in statements. Below each file is what they did not run."
    return tag("div", tag("p", said), *(_file(each) for each in files), class_="reach")


def _file(file: FileReached) -> Markup:
    head = tag("summary", f"{file.file}: {file.ran:,} of {file.statements:,}, {share(file)}")
    aside = [tag("li", f"{count} left aside: {why}") for why, count in file.aside.items()]
    lines = "\n".join(f"{each.line:5}  {each.function}  {each.text}" for each in file.missed)
    return tag("details", head, *([tag("ul", *aside)] if aside else []), *([tag("pre", lines)] if lines else []))
