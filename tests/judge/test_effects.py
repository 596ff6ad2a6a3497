"""What a candidate does to a graph, against what the release makes of it, and what is counted. No Keras runs."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from clonediff.harness.judge.effects import FixEffect, KnownBugs, effects
from clonediff.harness.judge.graphs import PLAIN, REPORTED
from clonediff.harness.judge.record import Judged
from clonediff.harness.judge.trying import CauseOnGraphs, GraphTried
from clonediff.harness.judge.verdicts import in_order, verdict, with_scripts
from clonediff.harness.subjects.case import Case
from clonediff.harness.trials.trial import CloneTrial, Trial
from clonediff.reports.known import KnownIssue, KnownIssues, Pattern
from clonediff.reports.records import Cause, Difference, Place, Raised, Severity
from clonediff.strategies.graph import Graph, to_json

RAISED = Difference(
    "made", "clone", "raises", "a clone", "KeyError: 'x'", Severity.CRASHES, raised=Raised("KeyError", "'x'", "f.py:g")
)
OTHER = replace(RAISED, raised=Raised("TypeError", "no", "f.py:g"))
CALLED = Difference(
    "outputs", "inference", "raises", "a result", "KeyError: 'x'", Severity.CRASHES, raised=Raised("KeyError", "'x'")
)
DENSE = Place("a", "Dense", 1)
SHARED = Difference(
    "own", "layers['a']", "layer shared", "a layer of its own", "the original's", Severity.TRAINS, DENSE
)
MASK = Difference("structure", "layers['a'].config.mask", "config.mask", "f", "nothing", Severity.PROPERTY, DENSE)
NAME = Difference("structure", "layers['a'].name", "name", "a", "b", Severity.NAME, DENSE)
VALUES = Difference("outputs", "inference.outputs[0]", "value", "1", "2", Severity.COMPUTES, DENSE)

LOSES_MASKS = KnownIssue(
    "mask", "keras", "a mask is lost", "a line of Keras", Severity.COMPUTES, "", (Pattern(aspect="config.mask"),)
)


def cause(root: Difference) -> Cause:
    return Cause(f"{root.check}-{root.aspect}-{root.raised.type if root.raised else ''}", root, severity=root.severity)


def effect(
    its: list[Difference],
    upstream: list[Difference],
    fixed: tuple[Difference, ...] = (),
    bugs: KnownBugs = KnownBugs(),  # noqa: B008 - frozen
) -> list[FixEffect]:
    return [one for _, one in effects([*map(cause, its)], [*map(cause, upstream)], [*map(cause, fixed)], bugs)]


@pytest.mark.parametrize(
    ("its", "upstream", "expected"),
    [
        pytest.param(RAISED, [], FixEffect.BREAKS, id="upstream holds"),
        pytest.param(SHARED, [], FixEffect.BREAKS, id="upstream holds, and it is silent"),
        pytest.param(RAISED, [NAME], FixEffect.BREAKS, id="upstream has another difference"),
        pytest.param(NAME, [NAME], FixEffect.LEAVES_LOST, id="upstream has the same name"),
        pytest.param(SHARED, [SHARED], FixEffect.LEAVES, id="upstream has the same"),
        pytest.param(SHARED, [replace(SHARED, severity=Severity.PROPERTY)], FixEffect.BREAKS, id="more comes of it"),
        pytest.param(MASK, [], FixEffect.LOSES, id="upstream keeps a property"),
        pytest.param(RAISED, [RAISED], FixEffect.LEAVES, id="upstream makes no clone for the same reason"),
        pytest.param(OTHER, [RAISED], FixEffect.OTHERWISE, id="upstream makes no clone for another reason"),
        pytest.param(CALLED, [RAISED], FixEffect.OTHERWISE, id="the clone cannot be called"),
        pytest.param(NAME, [RAISED], FixEffect.LOSES_NOW, id="a name, where there was no clone"),
        pytest.param(SHARED, [RAISED], FixEffect.SILENCES, id="shares, where there was no clone"),
        pytest.param(VALUES, [RAISED], FixEffect.SILENCES, id="computes otherwise, where there was no clone"),
        pytest.param(MASK, [RAISED], FixEffect.LOSES_NOW, id="loses a mask, where there was no clone"),
        pytest.param(VALUES, [CALLED], FixEffect.SILENCES, id="computes otherwise, where calling raised"),
        pytest.param(VALUES, [VALUES, CALLED], FixEffect.LEAVES, id="computes otherwise as before"),
    ],
)
def test_what_a_cause_is_against_the_release(its: Difference, upstream: list[Difference], expected: FixEffect) -> None:
    assert effect([its], upstream) == [expected]


def test_what_still_raises_is_not_silent() -> None:
    assert effect([SHARED, CALLED], [RAISED]) == [FixEffect.OTHERWISE, FixEffect.OTHERWISE]


def test_a_known_bug_of_the_release_that_an_exception_hid_is_left_broken() -> None:
    bugs = KnownBugs(upstream=KnownIssues((LOSES_MASKS,)))
    assert effect([MASK], [RAISED], bugs=bugs) == [FixEffect.LEAVES_LOST]
    assert effect([MASK], [], bugs=bugs) == [FixEffect.LOSES], "here it was not hidden: the release keeps it"


def test_what_fixed_shares_and_what_keras_documents_is_held_against_nobody() -> None:
    assert effect([NAME], [NAME], (NAME,)) == [FixEffect.SHARED]
    assert effect([MASK], [], bugs=KnownBugs(KnownIssues((LOSES_MASKS,)))) == [FixEffect.SHARED]


def test_what_fixed_shares_excuses_nothing_that_is_more_severe() -> None:
    assert effect([SHARED], [], (SHARED,)) == [FixEffect.SHARED]
    assert effect([SHARED], [], (replace(SHARED, severity=Severity.PROPERTY),)) == [FixEffect.BREAKS]


def tried(graph: Graph, its: list[Difference], upstream: list[Difference]) -> GraphTried:
    theirs = CloneTrial(tuple(map(cause, upstream)))
    clones = {"upstream": theirs, "fixed": CloneTrial()}
    found = effects([*map(cause, its)], [*map(cause, upstream)], [], KnownBugs())
    return GraphTried(graph, Case("", ()), Trial(), Trial(clones), tuple(found))


def candidate(*graphs: GraphTried) -> SimpleNamespace:
    """What a candidate remembers of graphs that it was tried on."""
    causes: dict[tuple[FixEffect, str], CauseOnGraphs] = {}
    for each in graphs:
        for its, one in each.causes:
            shown = causes.setdefault((one, its.fingerprint), CauseOnGraphs(one, its, "", each))
            shown.graphs.add(to_json(each.graph))
    its = {to_json(each.graph): each for each in graphs}
    return SimpleNamespace(graphs=its, causes=causes, reported=None, multi_gpu=None, stopped="")


BLANK = Judged("fix.py", "fix.py", "python", "keras", {}, "the whole file", loads=True)
ONE, TWO, THREE, FOUR = (PLAIN[name] for name in ("one Dense", "two inputs", "two outputs", "a shared layer"))


def test_each_graph_counts_once_for_the_worst() -> None:
    of = candidate(
        tried(REPORTED, [], [RAISED]),
        tried(ONE, [NAME, SHARED], [RAISED]),
        tried(TWO, [NAME, VALUES], [RAISED]),
        tried(THREE, [NAME, RAISED], [NAME]),
        tried(FOUR, [NAME], [NAME]),
    )
    judged = verdict(BLANK, of)  # type: ignore[arg-type]
    counts = (judged.tried, judged.worked, judged.worse, judged.broken, judged.otherwise, judged.left, judged.mended)
    assert counts == (5, 2, 2, 1, 0, 0, 1)
    assert (judged.lost, judged.only_lost, judged.lost_now, judged.left_lost) == (0, 0, 0, 1)
    assert judged.word == "worse"
    assert judged.silent == (
        "it makes 1 graph that could not be cloned share layers with the original and 1 graph that could not be cloned "
        "compute something else, without a word"
    )
    first, second, *_ = in_order(of)  # type: ignore[arg-type]
    assert (first.cause.root, second.cause.root) == (SHARED, VALUES)
    assert first.before is not None
    assert first.before.root == RAISED


def test_what_only_loses_what_was_kept_is_counted_apart_from_what_also_breaks() -> None:
    judged = verdict(BLANK, candidate(tried(ONE, [MASK], []), tried(TWO, [MASK, RAISED], [])))  # type: ignore[arg-type]
    assert (judged.broken, judged.lost, judged.only_lost) == (1, 2, 1)


def test_what_a_script_does_not_show_does_not_count() -> None:
    of = candidate(tried(ONE, [RAISED], []), tried(TWO, [RAISED, OTHER], []), tried(THREE, [SHARED], [RAISED]))
    judged = verdict(BLANK, of)  # type: ignore[arg-type]
    assert (judged.broken, judged.worse) == (2, 1)
    of.causes[FixEffect.BREAKS, cause(RAISED).fingerprint].reproduced = False
    of.causes[FixEffect.SILENCES, cause(SHARED).fingerprint].reproduced = False
    judged = verdict(BLANK, of)  # type: ignore[arg-type]
    assert (judged.broken, judged.worse, judged.silent) == (1, 0, "")


def test_of_causes_that_are_alike_one_gets_a_script() -> None:
    frozen = replace(MASK, aspect="trainable", severity=Severity.TRAINS)
    other = replace(frozen, first=Place("b", "LSTM", 2))
    of = candidate(tried(ONE, [frozen, NAME], [frozen, NAME]), tried(TWO, [frozen], [frozen]))
    another = Cause("another", other, severity=other.severity)
    of.causes[FixEffect.LEAVES, "another"] = CauseOnGraphs(
        FixEffect.LEAVES, another, "", tried(THREE, [other], [other])
    )
    chosen = with_scripts(in_order(of))  # type: ignore[arg-type]
    assert [each.cause.root for each in chosen] == [frozen, NAME]
