"""A unified diff, read and applied to a private copy of a release's package.

Owns which file of the package a path of the diff means, and that nothing outside the copy is ever written: a path that
is absolute or climbs is refused, and no link of the copy lies on the way to a file that is written.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

import msgspec

_HUNK = re.compile(r"^@@ -(?P<old>\d+)(?:,(?P<olds>\d+))? \+(?P<new>\d+)(?:,(?P<news>\d+))? @@")
_ASIDE = re.compile(
    r"(^|/)(tests?|docs?|examples?|benchmarks?|integration_tests|\.github)/|(_test|_tests)\.py$|^[^/]+\.md$"
)
_LINK = re.compile(r"^(?:new file mode|new mode|index \S+) 120000$", re.MULTILINE)
_NOWHERE = "/dev/null"


class PatchError(ValueError):
    """A diff that cannot be applied; the message names the file and the hunk. That is a verdict on it."""


class Hunk(msgspec.Struct, frozen=True):
    """`before` is what it expects from line `start` on, `after` what it puts there."""

    start: int
    before: tuple[str, ...]
    after: tuple[str, ...]
    head: str


class FilePatch(msgspec.Struct, frozen=True):
    """The hunks for a file. `old` and `new` are its paths as the diff has them, None for a file that is not there."""

    old: str | None
    new: str | None
    hunks: tuple[Hunk, ...]

    @property
    def path(self) -> str:
        """The path that is named in messages."""
        return self.new or self.old or ""


class Applied(msgspec.Struct, frozen=True):
    """The folder to lay before others on the path, the files changed in it, the paths of the diff left aside."""

    folder: Path
    changed: tuple[Path, ...]
    left_out: tuple[str, ...] = ()


def read_diff(text: str) -> list[FilePatch]:
    """The files of a diff."""
    if _LINK.search(text):
        raise PatchError("it makes a link, which no fix of a module needs: refused")
    if re.search(r"^(?:GIT binary patch|Binary files )", text, re.MULTILINE):
        raise PatchError("it changes a binary file: only text can be applied")
    if re.search(r"^(?:rename|copy) (?:from|to) ", text, re.MULTILINE):
        raise PatchError("it renames or copies a file: only changes of lines can be applied")
    lines = text.split("\n")
    patches = []
    at = 0
    while at < len(lines):
        if not (lines[at].startswith("--- ") and at + 1 < len(lines) and lines[at + 1].startswith("+++ ")):
            at += 1
            continue
        old, new = _named(lines[at]), _named(lines[at + 1])
        at += 2
        hunks: list[Hunk] = []
        while at < len(lines) and lines[at].startswith("@@"):
            hunk, at = _hunk(lines, at, new or old or "", len(hunks) + 1)
            hunks.append(hunk)
        if not hunks:
            raise PatchError(f"{new or old}: the diff names it and has no hunk for it")
        patches.append(FilePatch(old, new, tuple(hunks)))
    if not patches:
        raise PatchError("no diff in it: no line `--- FILE` with a line `+++ FILE` after it")
    return patches


def apply(patches: Sequence[FilePatch], package: Path, private: Path) -> Applied:
    """Copy the package into the folder `private` and apply the patches there, all of them or none."""
    inside: list[tuple[FilePatch, PurePosixPath]] = []
    left_out = []
    for patch in patches:
        for path in (patch.old, patch.new):
            _refuse_outside(path)
        place = _place(patch, package)
        if place is not None:
            inside.append((patch, place))
        elif _ASIDE.search(re.sub(r"^[ab]/", "", patch.path)):
            left_out.append(patch.path)
        else:
            raise PatchError(f"{patch.path}: the release has no such file")
    if not inside:
        raise PatchError(f"it changes no file of the release: {', '.join(left_out)}")
    # All is known to fit before anything is copied.
    contents = [(place, _patched(patch, package.parent / place)) for patch, place in inside]
    _copy(package, private / package.name, [private / place for place, _ in contents])
    changed = []
    for place, content in contents:
        target = private / place
        if not target.resolve().is_relative_to((private / package.name).resolve()):
            raise PatchError(f"{place}: leads out of the package: refused")
        if content is None:
            target.unlink()
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(content, encoding="utf-8", newline="")
        changed.append(target)
    return Applied(private, tuple(changed), tuple(left_out))


def _copy(package: Path, private: Path, written: Sequence[Path]) -> None:
    """A copy of a package. Of one as large as TensorFlow, links stand for what no patch writes to."""
    if package.name.startswith("tensorflow"):
        _shadow(package, private, written)
        return
    shutil.copytree(package, private)  # with its bytecode, which takes a process seconds to make
    for path in written:
        for made in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
            made.unlink()


def _shadow(folder: Path, private: Path, written: Sequence[Path]) -> None:
    private.mkdir(parents=True)
    for entry in folder.iterdir():
        target = private / entry.name
        if any(path.is_relative_to(target) for path in written):
            if entry.is_dir():
                _shadow(entry, target, written)
            else:
                shutil.copyfile(entry, target)
        elif entry.name != "__pycache__":
            target.symlink_to(entry.resolve())


def _named(line: str) -> str | None:
    path = line[4:].split("\t")[0].strip()
    if path.startswith('"') and path.endswith('"'):
        path = path[1:-1]
    return None if path == _NOWHERE else path


def _hunk(lines: Sequence[str], at: int, path: str, number: int) -> tuple[Hunk, int]:
    head = lines[at]
    match = _HUNK.match(head)
    if match is None:
        raise PatchError(f"{path}: hunk {number} ({head[:60]}): its head is not `@@ -LINE,COUNT +LINE,COUNT @@`")
    olds, news = int(match["olds"] or 1), int(match["news"] or 1)
    before: list[str] = []
    after: list[str] = []
    at += 1
    while len(before) < olds or len(after) < news:
        line = lines[at] if at < len(lines) else None
        sign = " " if line == "" else line[0] if line else None
        if line is None or sign not in (" ", "+", "-", "\\"):
            raise PatchError(
                f"{path}: hunk {number} ({match[0]}) is cut short: its head says {olds} lines before and {news} after, "
                f"there are {len(before)} and {len(after)}"
            )
        if sign in (" ", "-"):
            before.append(line[1:])
        if sign in (" ", "+"):
            after.append(line[1:])
        at += 1
    if len(before) != olds or len(after) != news:
        raise PatchError(
            f"{path}: hunk {number} ({match[0]}): its head says {olds} lines before and {news} after, "
            f"there are {len(before)} and {len(after)}"
        )
    while at < len(lines) and lines[at].startswith("\\"):
        at += 1
    return Hunk(int(match["old"]), tuple(before), tuple(after), match[0]), at


def _refuse_outside(path: str | None) -> None:
    if path is None:
        return
    if "\0" in path or path.startswith(("/", "\\", "~")) or re.match(r"[A-Za-z]:", path):
        raise PatchError(f"{path}: an absolute path: refused")
    if ".." in re.split(r"[/\\]", path):
        raise PatchError(f"{path}: climbs out of its folder: refused")


def _place(patch: FilePatch, package: Path) -> PurePosixPath | None:
    """The file that a path means, as a path from the folder that holds the package; None where it is none of it.

    Leading parts (`a/`, `src/`, the folder of a checkout) are left away one after the other until a file is met.
    """
    path = patch.old or patch.new or ""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    for skipped in range(len(parts)):
        rest = PurePosixPath(*parts[skipped:])
        for place in (rest, PurePosixPath(package.name) / rest):
            if place.parts[0] != package.name:
                continue
            if patch.old is None and len(place.parts) > 1 and place is rest:
                return place
            found = package.parent / place
            if patch.old is not None and found.is_file() and found.resolve().is_relative_to(package.resolve()):
                return place
    return None


def _patched(patch: FilePatch, file: Path) -> str | None:
    """The text of a file once patched, None where the patch takes it away."""
    if patch.old is None:
        if file.exists():
            raise PatchError(f"{patch.path}: the diff makes it anew, and the release has it already")
        return "".join(f"{line}\n" for hunk in patch.hunks for line in hunk.after)
    lines = file.read_text(encoding="utf-8").replace("\r\n", "\n").split("\n")
    shift = 0
    for number, hunk in enumerate(patch.hunks, 1):
        wanted = hunk.start - 1 + shift if hunk.before else hunk.start + shift
        at = _fit(lines, hunk.before, wanted)
        if at is None:
            raise PatchError(f"{patch.path}: hunk {number} ({hunk.head}) does not apply: {_why(lines, hunk, wanted)}")
        lines[at : at + len(hunk.before)] = hunk.after
        shift += len(hunk.after) - len(hunk.before) + at - wanted
    return None if patch.new is None else "\n".join(lines)


def _fit(lines: Sequence[str], before: Sequence[str], wanted: int) -> int | None:
    """Where these lines stand: the place nearest to the wanted one."""
    bare = [line.rstrip() for line in lines]
    looked_for = [line.rstrip() for line in before]
    places = (at for at in _near(wanted, len(lines) - len(before)) if bare[at : at + len(before)] == looked_for)
    return next(places, None)


def _near(wanted: int, last: int) -> Iterator[int]:
    for distance in range(max(wanted, last - wanted, 0) + 1):
        for at in dict.fromkeys((wanted + distance, wanted - distance)):
            if 0 <= at <= last:
                yield at


def _why(lines: Sequence[str], hunk: Hunk, wanted: int) -> str:
    """The first line that is not what the hunk expects, at the place of which it speaks."""
    for offset, expected in enumerate(hunk.before):
        at = wanted + offset
        there = lines[at] if 0 <= at < len(lines) else None
        if there is None:
            return f"it expects a line {at + 1}, and the file ends before"
        if there.rstrip() != expected.rstrip():
            return f"line {at + 1} is `{there.strip()[:70]}`, and the hunk expects `{expected.strip()[:70]}`"
    return "its lines are nowhere in the file"
