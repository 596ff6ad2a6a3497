"""All words on candidates: a clause for a cause, a sentence for a verdict, the lines on a candidate, the whole text."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from clonediff.harness.inside.failures import CANDIDATE_FILE
from clonediff.harness.judge.effects import COUNTED, FixEffect
from clonediff.harness.judge.processes import ended
from clonediff.harness.judge.record import Judged, JudgedCause
from clonediff.harness.subjects.observation import Frame
from clonediff.reports.markup import one_line, visible
from clonediff.reports.records import SEVERITIES, Cause, Difference, Severity
from clonediff.reports.verdict import some

ROWS = {
    FixEffect.SILENCES: 3,
    FixEffect.BREAKS: 3,
    FixEffect.OTHERWISE: 2,
    FixEffect.LEAVES: 4,
    FixEffect.LOSES: 2,
    FixEffect.LOSES_NOW: 1,
    FixEffect.LEAVES_LOST: 2,
}
"""The rows of each effect in a terminal; the rest stands in the folder."""

_CROWDED = 4
"""Where there are causes of more effects than these, each has half of its rows."""

ROWS_ALONE = 10
"""The rows of a candidate with causes of one effect only."""

_COMES_OF = {
    Severity.COMPUTES: "compute something else",
    Severity.TRAINS: "train differently",
    Severity.PROPERTY: "lose a property",
    Severity.NAME: "change a name",
    Severity.CRASHES: "crash when they are used",
}
_SHARED = re.compile(r"(layer|weight|state) shared")
_UNSHOWN = " (does not count: its script does not fail on its own)"
_KINDS = 3
_LONGEST = 110


# -- causes and graphs


def graph_line(source: str) -> str:
    """A model in a line: what its script does between what it imports and defines and the model."""
    lines = [
        line
        for line in source.strip().split("\n")
        if not re.match(r"import |from |class |def |@|\s|keras\.utils\.get_custom_objects|$", line)
    ]
    short = re.sub(r"\bkeras\.layers\.|\blayers\.|\bkeras\.", "", "; ".join(lines))
    return re.sub(r"; model = Model\([^;]*\)$", "", short)


def cause_clause(cause: Cause) -> str:
    """A cause in a clause: the exception, or the first difference."""
    root = cause.root
    if root.raised is not None and root.path == "process":
        return ended(root.raised.type)
    if root.raised is not None:
        when = {"made": "", "weights": " when the clone is given the weights"}.get(root.check, f" in {root.path}")
        return f"{root.raised.type}: {_short(root.raised.message)}{when}".replace(": :", ":").rstrip(": ")
    layer = f"{root.first.name or 'the model'} ({root.first.kind})" if root.first else ""
    if shared := _shared(root):
        of = f" {layer}" if layer and shared == "layer" else f" of {layer}" if layer else ""
        return f"the clone has the original's own {shared}{of}"
    aspect = root.aspect.replace("_", " ")
    where = f"{aspect} of {layer}" if layer else f"{root.check}, {aspect}"
    severity = f" ({SEVERITIES[cause.severity]})" if cause.severity < root.severity else ""
    return f"{where}: {_short(root.expected)} in the original, {_short(root.found)} in the clone{severity}"


def where_raised(cause: Cause, at: Frame | None) -> str:
    """Where an exception was raised, in words; "" where there is none."""
    root = cause.root
    if at is not None:
        return f" in `{at.function}`, line {at.line} of the file"
    if root.raised is None or not root.raised.frame or root.path == "process":
        return ""
    file, _, function = root.raised.frame.rpartition(":")
    return f" in `{function}`" + ("" if file == CANDIDATE_FILE else f" of {file}")


def comes_of(cause: Cause) -> str:
    """What a clone with this cause does, said of several clones."""
    shared = _shared(cause.root)
    if shared:
        return f"share {shared}{'' if shared == 'state' else 's'} with the original"
    return _COMES_OF[cause.severity]


def silently(before: str, graphs: Mapping[str, Collection[bytes]]) -> str:
    """What comes of all that is silent now, by what comes of it; "" where nothing is."""
    parts = [f"{some(len(its), 'graph')} that {before} {words}" for words, its in graphs.items() if its]
    return f"it makes {' and '.join(parts)}, without a word" if parts else ""


def likeness(differences: Sequence[Difference]) -> tuple[str, ...]:
    """What causes that are alike have in common: the type of an exception, or an aspect; names are all alike."""
    if not differences:
        return ()
    root = differences[0]
    if root.raised is not None:
        return (root.raised.type,)
    if min(each.severity for each in differences) is Severity.NAME:
        return ("name",)
    return (root.check, root.aspect)


def _shared(root: Difference) -> str:
    match = _SHARED.fullmatch(root.aspect) if root.check == "own" and root.raised is None else None
    return match[1] if match else ""


def _short(text: str) -> str:
    return one_line(re.sub(r" [0-9a-f]{16,}\b", "", " ".join(text.split())), _LONGEST)


# -- a verdict


def sentence(judged: Judged) -> str:
    """The reason for a verdict: the worst first."""
    if not judged.loads:
        return f"It does not load: {judged.refused}."
    text = f"{judged.silent[0].upper()}{judged.silent[1:]}. " if judged.silent else ""
    text += _reason(judged) + _lost(judged)
    if judged.stopped:
        text += f" Not all was tried: {judged.stopped}."
    return text


def _reason(judged: Judged) -> str:
    unfixed = "" if judged.fixes else judged.reported.said if judged.reported is not None else "it was not tried"
    wrong = judged.left + judged.otherwise
    if judged.broken:
        return _breaks(judged) + (" It does fix the reported bug." if judged.fixes else "")
    if not wrong and not judged.silent and not unfixed and not judged.worse:
        only = judged.lost or judged.lost_now or judged.left_lost
        what = "crashes, computes something else or trains differently" if only else "speaks against it"
        return f"Nothing {what} on {some(judged.tried, 'graph')}."
    if judged.form == "reference":
        said = f"It shows the reported bug: {unfixed}." if unfixed else "It does not show the reported bug."
        return said + (f" It breaks on {some(wrong, 'graph')} of {judged.tried}." if wrong else "")
    if unfixed:
        return f"It breaks nothing that worked, and does not fix the reported bug: {unfixed}."
    if judged.worse:
        return "It breaks nothing that worked."
    causes = [*judged.of(FixEffect.OTHERWISE), *judged.of(FixEffect.LEAVES)]
    said = f": {causes[0].said}" if causes else ""
    more = f", and {len(causes) - 1} more causes" if len(causes) > 2 else ", and one more cause" if causes[1:] else ""
    left = f"{some(wrong, 'graph')} of {judged.tried}{said}{more}"
    return f"It fixes the reported bug and breaks nothing that worked; it leaves broken {left}."


def _lost(judged: Judged) -> str:
    """What only loses a property or a name, in sentences that come after all else; "" where nothing does."""
    said = ""
    if causes := judged.of(FixEffect.LOSES):
        of = f"of {judged.worked} graphs that the release's own code clones"
        said += f" It loses a property or a name on {judged.lost} {of}: {causes[0].said}."
    before = judged.lost_now + judged.left_lost
    if before:
        as_before = ", as the release does" if judged.left_lost == before else ""
        said += f" On {some(before, 'graph')}{' more' if causes else ''}, a property or a name is lost{as_before}."
    return said


def _breaks(judged: Judged) -> str:
    worst = max(judged.of(FixEffect.BREAKS), key=lambda each: each.graphs)
    count = f"{judged.worked} graphs that the release's own code clones"
    if judged.broken < judged.worked:
        head = f"It breaks {judged.broken} of {count}"
    else:
        head = f"It breaks all of the {count}" if worst.does else f"It clones none of the {count}"
    more = f" ({worst.graphs} of them)" if worst.graphs < judged.broken else ""
    return f"{head}: {worst.said}{more}."


def everything(judged: Sequence[Judged], subject: str) -> str:
    """All that is said of all candidates, for a file: nothing is cut, nothing is left out."""
    in_order = sorted(judged, key=lambda each: each.form == "reference")
    parts = [f"Proposed fixes, judged on {subject}", *("\n".join(lines_on(each)) for each in in_order)]
    return "\n\n".join(parts) + "\n"


def lines_on(judged: Judged, rows: Mapping[FixEffect, int] | None = None) -> list[str]:
    """The lines on a candidate: the verdict, the reason, and the causes by effect, at most so many `rows` of each."""
    lines = [f"{judged.candidate}: {judged.word}", f"  {judged.sentence}"]
    if judged.taken:
        replaced = f"; replaces {', '.join(judged.replaced)}" if judged.replaced else ""
        lines.append(f"  taken: {judged.taken}{replaced}")
    if not judged.loads:
        return [visible(line) for line in (*lines, "  loads: no")]
    lines.append(f"  fixes the reported bug: {_fix(judged)}")
    effects = {each.effect for each in judged.breaks}
    alone, crowded = len(effects) == 1, len(effects) > _CROWDED
    for effect in COUNTED:
        its = folded(judged.of(effect))
        if not its and effect is not FixEffect.BREAKS:
            continue
        most = len(its) if rows is None else ROWS_ALONE if alone else rows[effect] // (2 if crowded else 1)
        lines.append(f"  {effect.value}: {_on(judged, effect)}{_more(its, most)}")
        for number, row in enumerate(its[:most]):
            if rows is None:
                lines += [line for each in row for line in _row([each], with_graph=True)]
            else:
                lines += _row(row, with_graph=number == 0 and effect in (FixEffect.SILENCES, FixEffect.BREAKS))
    if judged.mended:
        lines.append(f"  mends: {some(judged.mended, 'graph')} on which the release is wrong")
    return [visible(line) for line in lines]


def folded(causes: Sequence[JudgedCause]) -> list[list[JudgedCause]]:
    """Causes of one effect, those that are alike together; the order stays."""
    rows: dict[tuple[str, ...], list[JudgedCause]] = {}
    for each in causes:
        rows.setdefault(likeness(each.differences), []).append(each)
    return list(rows.values())


def _row(row: Sequence[JudgedCause], *, with_graph: bool) -> Iterator[str]:
    first = row[0]
    before = f"; before: {first.before}" if first.before else ""
    kinds = dict.fromkeys(each.differences[0].first.kind for each in row[1:] if each.differences[0].first)
    named = f" ({', '.join([*kinds][:_KINDS])}{', ...' if len(kinds) > _KINDS else ''})" if kinds else ""
    alike = f" and {len(row) - 1} alike{named}" if len(row) > 1 else ""
    on = "+".join(str(each.graphs) for each in row[:_KINDS]) + ("+..." if len(row) > _KINDS else "")
    unshown = _UNSHOWN if first.reproduced is False else ""
    # The number of those alike comes before what may be cut off.
    yield f"    {on} {'graph' if on == '1' else 'graphs'}{alike}: {first.said}{before}{unshown}"
    if with_graph:
        yield f"      {first.script or 'smallest'}: {first.smallest}"


def _more(its: Sequence[Sequence[JudgedCause]], most: int) -> str:
    count = sum(map(len, its))
    if count < 2:
        return ""
    hidden = sum(map(len, its[most:]))
    shown = count - hidden
    return f", {count} causes" + (f", the worst {shown} of them" if hidden and shown else "")


def _on(judged: Judged, effect: FixEffect) -> str:
    count, of = judged.counted(effect)
    if not judged.of(effect):
        return f"on none of {of} graphs"
    if not count:
        return "only on graphs that are counted above"
    before = f" ({judged.uncovered} of them raised before)" if effect is FixEffect.LEAVES and judged.uncovered else ""
    return f"on {count} of {of} graphs{before}"


def _fix(judged: Judged) -> str:
    if judged.reported is None:
        return "not tried"
    return "yes" if judged.reported.holds else f"no: {judged.reported.said}"
