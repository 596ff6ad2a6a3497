"""One finding, by what names it: its folder, its finding.json, or a run and the id of one in it.

Must not import Keras.
"""

from __future__ import annotations

from pathlib import Path

from harness.answers.replay.reading import FINDING, finding_of
from reports.records import Finding
from reports.store import read_run

_MOST = 20


class NotFoundError(ValueError):
    """What was named is no finding; the message says what there is."""


class NamedFinding:
    """A finding and its folder."""

    def __init__(self, folder: Path, finding: Finding) -> None:
        self.folder = folder
        self.finding = finding

    def kept(self, name: str) -> str:
        """The text of a file beside it; "" where there is none that can be read."""
        try:
            return (self.folder / name).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return ""


def find(what: Path, id_: str = "") -> NamedFinding:
    """The finding of that name. `id_` is its id or its folder's name in a run, or the beginning of one."""
    if what.is_file() or (what / FINDING).is_file():
        path = what if what.is_file() else what / FINDING
        found = NamedFinding(path.parent, finding_of(path))
        if id_ and not found.finding.id.startswith(id_):
            raise NotFoundError(f"{what}: is the finding {found.finding.id}, not {id_}; leave the id out")
        return found
    if not what.exists():
        raise NotFoundError(
            f"{what}: no such finding or run; name a finding's folder, or a run and an id: runs/latest ID"
        )
    run = read_run(what)
    there = {kept.name: kept for kept in run.findings}
    exact = [name for name, kept in there.items() if id_ and id_ in (name, kept.finding.id)]
    near = [name for name, kept in there.items() if name.startswith(id_) or kept.finding.id.startswith(id_)]
    names = exact or near
    if len(names) == 1:
        kept = there[names[0]]
        return NamedFinding(kept.folder, kept.finding)
    unread = [name for name in run.unreadable if id_ and (name.startswith(id_) or name.endswith(id_))]
    if unread and not names:
        problem = next((each for each in run.problems if unread[0] in each), "cannot be read")
        raise NotFoundError(f"{what}: {problem}")
    if not there:
        raise NotFoundError(f"{what}: this run has no findings")
    if names:
        said = f"{len(names)} findings begin with {id_}" if id_ else f"there are {len(names)} findings: name one"
        raise NotFoundError(f"{what}: {said}: {_listed(names)}")
    raise NotFoundError(f"{what}: no finding begins with {id_}; there are {_listed(sorted(there))}")


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    return ", ".join(names[:_MOST]) + more
