"""How a verdict is said, and the scripts. No Keras runs."""

from __future__ import annotations

import ast
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from clonediff.harness.cli.text.judge import judged_text
from clonediff.harness.judge.effects import FixEffect
from clonediff.harness.judge.graphs import PLAIN, REPORTED
from clonediff.harness.judge.processes import Prepared, changed_statements
from clonediff.harness.judge.record import Judged, JudgedCause, ReportedBug
from clonediff.harness.judge.scripts import script_for
from clonediff.harness.judge.text import everything, folded, graph_line, sentence
from clonediff.harness.source import write_source
from clonediff.harness.subjects.place import BESIDE
from clonediff.reports.records import Difference, Place, Raised, Severity

RAISED = Difference(
    "made", "clone", "raises", "a clone", "KeyError: 'x'", Severity.CRASHES, raised=Raised("KeyError", "'x'", "f.py:g")
)


def judged(**about: object) -> Judged:
    blank = Judged("fix.py", "fix.py", "python", "keras==3.14.1", {}, "the whole file", loads=True, tried=9, worked=8)
    holds = ReportedBug(True, "the clone computes the same")
    return replace(blank, **{"reported": holds, **about})


def a_break(
    effect: FixEffect,
    said: str = "KeyError: 'x' in `f`, line 3 of the file",
    graphs: int = 4,
    differences: tuple[Difference, ...] = (RAISED,),
    **about: Any,
) -> JudgedCause:
    raw = msgspec.Raw(b"{}")
    return JudgedCause(said, effect, "t", said, graphs, "one Dense", "Dense(3)(inputs)", raw, "", differences, **about)


BREAKS = {"broken": 4, "breaks": (a_break(FixEffect.BREAKS),)}


@pytest.mark.parametrize(
    ("about", "word", "holds", "said"),
    [
        pytest.param({}, "holds", True, "Nothing speaks against it on 9 graphs.", id="holds"),
        pytest.param(
            {"loads": False, "refused": "SyntaxError"},
            "does not load",
            False,
            "It does not load: SyntaxError.",
            id="not",
        ),
        pytest.param(
            BREAKS, "fails", False, "It breaks 4 of 8 graphs that the release's own code clones: KeyError", id="b"
        ),
        pytest.param({**BREAKS, "broken": 8}, "fails", False, "It clones none of the 8 graphs", id="all"),
        pytest.param(
            {"left": 2, "breaks": (a_break(FixEffect.LEAVES),)},
            "fixes it, leaves others broken",
            False,
            "it leaves broken 2 graphs of 9: KeyError",
            id="leaves",
        ),
        pytest.param(
            {"reported": ReportedBug(False, "AssertionError")},
            "fails",
            False,
            "does not fix the reported bug",
            id="unfixed",
        ),
        pytest.param(
            {"form": "reference", "reported": ReportedBug(False, "AssertionError"), "left": 2},
            "shows the reported bug",
            False,
            "It shows the reported bug: AssertionError. It breaks on 2 graphs of 9.",
            id="the release",
        ),
        pytest.param(
            {"form": "reference", "left": 2, "breaks": (a_break(FixEffect.LEAVES),)},
            "breaks elsewhere",
            False,
            "It does not show the reported bug. It breaks on 2 graphs of 9.",
            id="a later release",
        ),
        pytest.param(
            {
                "worse": 2,
                "silent": "it makes 2 graphs that could not be cloned share layers with the original",
                "breaks": (a_break(FixEffect.SILENCES),),
            },
            "worse",
            False,
            "It makes 2 graphs that could not be cloned share layers with the original. It breaks nothing that worked.",
            id="worse",
        ),
        pytest.param(
            {"lost": 2, "breaks": (a_break(FixEffect.LOSES, "a mask", severity=Severity.PROPERTY),)},
            "holds",
            True,
            "Nothing crashes, computes something else or trains differently on 9 graphs. It loses a property or a name "
            "on 2 of 8 graphs that the release's own code clones: a mask.",
            id="loses",
        ),
        pytest.param(
            {
                "lost": 2,
                "breaks": (a_break(FixEffect.LOSES, "a mask", severity=Severity.PROPERTY),),
                "at_least": "property",
            },
            "fails",
            False,
            "It loses a property or a name on 2 of 8 graphs",
            id="loses, which counts",
        ),
        pytest.param(
            {
                "broken": 4,
                "breaks": (a_break(FixEffect.BREAKS, "values", severity=Severity.COMPUTES),),
                "at_least": "crashes",
            },
            "holds",
            True,
            "It breaks 4 of 8 graphs that the release's own code clones: values.",
            id="breaks, which does not count",
        ),
        pytest.param(
            {"left_lost": 3, "breaks": (a_break(FixEffect.LEAVES_LOST, "a mask", severity=Severity.NAME),)},
            "holds",
            True,
            "on 9 graphs. On 3 graphs, a property or a name is lost, as the release does.",
            id="leaves lost",
        ),
        pytest.param({"stopped": "given up"}, "fails", False, "Not all was tried: given up.", id="stopped"),
    ],
)
def test_the_verdict_and_its_sentence(about: dict[str, object], word: str, holds: bool, said: str) -> None:
    verdict = judged(**about)
    assert (verdict.word, verdict.holds) == (word, holds)
    assert said in sentence(verdict)


def frozen(kind: str, graphs: int) -> JudgedCause:
    root = Difference("structure", "", "trainable", "false", "true", Severity.TRAINS, Place("a", kind, 1))
    said = f"trainable of a ({kind}): false in the original, true in the clone"
    return a_break(FixEffect.LEAVES, said, graphs, (root,))


@pytest.fixture(autouse=True)
def _a_terminal_of_a_usual_width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")


def shown(*verdicts: Judged) -> list[str]:
    return list(judged_text(verdicts, "keras==3.14.1"))


def test_the_screen_is_plain_where_it_is_piped() -> None:
    text = "\n".join(shown(judged(**BREAKS)))
    assert "\x1b" not in text
    assert "fix.py: fails" in text
    assert "breaks what worked: on 4 of 8 graphs" in text


def test_what_a_candidate_raises_is_text() -> None:
    said = "KeyError: '\x1b[31mred\x1b[0m'"
    lines = shown(judged(broken=4, breaks=(a_break(FixEffect.BREAKS, said),), sentence=said))
    assert "\x1b" not in "".join(lines)
    assert sum("\\x1b[31mred" in line for line in lines) == 2


def test_the_worst_is_said_first_and_a_screen_is_enough() -> None:
    many = tuple(
        a_break(effect, f"E{number}: {effect}", number, (replace(RAISED, raised=Raised(f"E{number}", "")),))
        for effect in FixEffect
        for number in range(1, 15)
    )
    verdict = judged(worse=5, broken=4, otherwise=3, left=2, mended=1, silent="it makes 5 graphs share", breaks=many)
    verdict = replace(verdict, sentence=sentence(verdict))
    lines = shown(verdict)
    assert lines[0] == "fix.py: worse"
    assert lines[1].startswith("  It makes 5 graphs share. It breaks 4 of 8 graphs")
    assert len(lines) <= 25
    heads = [line for line in lines if "14 causes" in line]
    assert [line.partition(":")[0].strip() for line in heads] == [
        "worse",
        "breaks what worked",
        "broken before, breaks otherwise now",
        "leaves broken",
        "loses a property or a name that was kept",
        "broken before, loses only a property or a name now",
        "leaves a property or a name lost",
    ]
    assert all(each.said in everything([verdict], "keras") for each in many if each.effect is not FixEffect.SHARED)


def test_causes_that_are_alike_are_one_row() -> None:
    name = Difference("structure", "", "name", "a", "b", Severity.NAME, Place("a", "Dense", 1))
    scope = replace(name, check="weights", aspect="weight scope")
    its = (frozen("Model", 3), frozen("LSTM", 2), frozen("Dense", 1))
    names = tuple(a_break(FixEffect.LEAVES, "a name", 9, (root,)) for root in (name, scope))
    assert folded([*its, *names]) == [[*its], [*names]]
    lines = shown(judged(left=6, breaks=(*its, *names)))
    row = "    3+2+1 graphs and 2 alike (LSTM, Dense): trainable of a (Model): false in the original, true in the clone"
    assert row in lines
    assert "  leaves broken: on 6 of 9 graphs, 5 causes" in lines


def test_an_effect_that_no_graph_counts_for_says_where_it_is() -> None:
    breaks = (a_break(FixEffect.LEAVES), a_break(FixEffect.LEAVES_LOST, "a mask", severity=Severity.PROPERTY))
    lines = shown(judged(left=4, breaks=breaks))
    assert "  leaves a property or a name lost: only on graphs that are counted above" in lines


def test_what_it_was_compared_with_comes_last() -> None:
    lines = shown(
        replace(judged(left=2, reported=ReportedBug(False, "no")), form="reference", candidate="upstream"), judged()
    )
    assert lines[0] == "fix.py: holds"
    assert lines[-1] == "  upstream: shows the reported bug; wrong on 2 of 9 graphs"


def test_of_what_it_was_compared_with_all_that_loses_a_property_is_told() -> None:
    lines = shown(replace(judged(left=2, lost=4, only_lost=3, left_lost=1), form="reference", candidate="fixed"))
    assert lines[-1].endswith("wrong on 2 of 9 graphs, loses a property or a name on 4 more")


def test_a_graph_is_told_in_a_line() -> None:
    lines = (
        "inputs = Input(shape=(1,))",
        "lambda_a, lambda_b = Lambda(lambda x: [x, x])(inputs)",
        "add = Add()([lambda_a, lambda_b])",
    )
    assert graph_line(write_source(REPORTED, "keras")) == "; ".join(lines)


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("dialect", ["keras", "tf_keras"])
def test_a_plain_graph_can_be_spelled(name: str, dialect: str) -> None:
    source = write_source(PLAIN[name], dialect)
    ast.parse(source)
    assert "\n" not in graph_line(source)


@pytest.mark.parametrize(
    "proposed",
    [
        pytest.param("def f():\n    pass\n", id="plain"),
        pytest.param("def f():\n    '''It's \"quoted\".'''\n", id="quotes"),
        pytest.param("x = \"\"\"a\"\"\"\ny = '''b'''\n", id="both quotes"),
        pytest.param("x = '\\\\'\n", id="backslash"),
    ],
)
def test_a_script_holds_the_proposal_as_it_is(proposed: str) -> None:
    source = write_source(REPORTED, "keras")
    script = script_for(source, "keras", RAISED, "keras.models", Prepared(BESIDE, in_script=proposed), "fix.py")
    assert script.raises == "KeyError"
    tree = ast.parse(script.text)
    (text,) = [
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "PROPOSED"
    ]
    assert text.strip("\n") == proposed.strip("\n")
    assert "clone = cloning.clone_model(model)" in script.text
    assert "clonediff" not in script.text


def test_a_name_of_several_lines_is_no_code_in_a_script() -> None:
    fix = Prepared(BESIDE, in_script="x = 1\n")
    name = "fix\nraise SystemExit\n.py"
    text = script_for("import keras\n\nmodel = 1\nclone = 2\n", "keras", RAISED, "keras.models", fix, name).text
    assert "# What fix raise SystemExit .py proposes" in text
    assert not any(isinstance(node, ast.Raise) for node in ast.parse(text).body)


@pytest.mark.parametrize("word", ["exit code 3", "timed out", "SIGSEGV"])
def test_a_script_that_ends_its_process_is_expected_to(word: str) -> None:
    root = replace(RAISED, path="process", raised=Raised(word, ""))
    fix = Prepared(BESIDE, in_script="x = 1\n")
    script = script_for("import keras\n\nmodel = 1\n", "keras", root, "keras.models", fix, "fix.py")
    assert script.raises == word


def test_the_changed_statements_of_a_module() -> None:
    before = "import a\n\n\ndef f():\n    return 1\n\n\ndef g():\n    return 2\n"
    after = before.replace("return 2", "return 3") + "\n\n@a.export\ndef h():\n    return 4\n"
    assert changed_statements(before, after) == "def g():\n    return 3\n\n\n@a.export\ndef h():\n    return 4\n"
    assert changed_statements(before, before) == ""
