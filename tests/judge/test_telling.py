"""What is held against a candidate, how it is said, and the scripts. No Keras runs."""

from __future__ import annotations

import ast
import io

import msgspec
import pytest
from msgspec.structs import replace

from harness.judge.plain import PLAIN, REPORTED
from harness.judge.scripts import changed_statements, showing
from harness.judge.stages import counted
from harness.judge.telling import graph_line, sentence, table
from harness.judge.trying import Shown
from harness.judge.verdicts import Break, Charge, Judged, OwnTests, Tried, charged
from harness.source import write_source
from harness.subjects.case import Case
from harness.subjects.place import BESIDE
from reports.records import Cause, Cost, Difference, Place, Raised

RAISED = Difference(
    "made", "clone", "raises", "a clone", "KeyError: 'x'", Cost.CRASHES, raised=Raised("KeyError", "'x'", "f.py:g")
)
OTHER = replace(RAISED, raised=Raised("TypeError", "no", "f.py:g"))
MASK = Difference("structure", "layers['a'].config.mask", "config.mask", "f", "nothing", Cost.PROPERTY)
NAME = Difference("structure", "layers['a'].name", "name", "a", "b", Cost.NAME, Place("a", "Dense", 1))


def cause(root: Difference) -> Cause:
    return Cause(f"{root.check}-{root.aspect}-{root.raised.type if root.raised else ''}", root, rank=root.rank)


@pytest.mark.parametrize(
    ("its", "upstream", "fixed", "charge"),
    [
        pytest.param(RAISED, [], [], Charge.BREAKS, id="upstream holds"),
        pytest.param(RAISED, [NAME], [], Charge.BREAKS, id="upstream has another difference"),
        pytest.param(NAME, [NAME], [], Charge.LEAVES, id="upstream has the same"),
        pytest.param(NAME, [RAISED], [], Charge.LEAVES, id="upstream makes no clone"),
        pytest.param(OTHER, [RAISED], [], Charge.LEAVES, id="upstream makes no clone either"),
        pytest.param(NAME, [NAME], [NAME], Charge.LIMIT, id="fixed has the same"),
    ],
)
def test_what_is_held_against_whom(
    its: Difference, upstream: list[Difference], fixed: list[Difference], charge: Charge
) -> None:
    found = charged([cause(its)], [cause(one) for one in upstream], [cause(one) for one in fixed], lambda _: False)
    assert [one for _, one in found] == [charge]


def test_what_keras_documents_is_held_against_nobody() -> None:
    assert [one for _, one in charged([cause(NAME)], [], [], lambda _: True)] == [Charge.LIMIT]


def judged(**about: object) -> Judged:
    blank = Judged("fix.py", "fix.py", "python", "keras==2.2.4", {}, "the whole file", loads=True, tried=9, worked=8)
    holds = Tried(True, "the clone computes the same")
    return replace(blank, **{"reported": holds, **about})


def a_break(charge: Charge, said: str = "KeyError: 'x' in `f`, line 3 of the file", graphs: int = 4) -> Break:
    raw = msgspec.Raw(b"{}")
    return Break(said, charge, "t", said, graphs, "one Dense", "Dense(3)(inputs)", raw, "", ())


OWN = OwnTests("2 tests", 1, ("test_a",), "no")
UNLOADED = {"loads": False, "refused": "SyntaxError"}
BREAKS = {"broken": 4, "breaks": (a_break(Charge.BREAKS),)}


@pytest.mark.parametrize(
    ("about", "word", "holds", "said"),
    [
        pytest.param({}, "holds", True, "Nothing is held against it on 9 graphs.", id="holds"),
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
            {"left": 2, "breaks": (a_break(Charge.LEAVES),)},
            "fixes it, leaves others broken",
            False,
            "it leaves broken 2 graphs of 9: KeyError",
            id="leaves",
        ),
        pytest.param(
            {"reported": Tried(False, "AssertionError")}, "fails", False, "does not fix the reported bug", id="unfixed"
        ),
        pytest.param(
            {"multi_gpu": Tried(False, "AssertionError: x")}, "fails", False, "does not fix the reported bug", id="gpus"
        ),
        pytest.param(
            {"own_tests": OwnTests("2 tests", 1, ("test_a",), "no")}, "fails", False, "test_a (no).", id="own"
        ),
        pytest.param(
            {"form": "reference", "reported": Tried(False, "AssertionError"), "left": 2},
            "shows the reported bug",
            False,
            "It shows the reported bug: AssertionError. It breaks on 2 graphs of 9.",
            id="the release",
        ),
        pytest.param(
            {"form": "reference", "left": 2, "breaks": (a_break(Charge.LEAVES),)},
            "breaks elsewhere",
            False,
            "It does not show the reported bug. It breaks on 2 graphs of 9.",
            id="a later release",
        ),
        pytest.param({"stopped": "given up"}, "fails", False, "Not all was tried: given up.", id="stopped"),
    ],
)
def test_the_verdict_and_its_sentence(about: dict[str, object], word: str, holds: bool, said: str) -> None:
    verdict = judged(**about)
    assert (verdict.word, verdict.holds) == (word, holds)
    assert said in sentence(verdict)


def test_what_a_script_does_not_show_does_not_count() -> None:
    case = Case("", ())
    shown = {
        (Charge.BREAKS, "wrong"): Shown(Charge.BREAKS, cause(RAISED), REPORTED, "", case, {b"1", b"2"}),
        (Charge.BREAKS, "right"): Shown(Charge.BREAKS, cause(OTHER), REPORTED, "", case, {b"2"}),
    }
    breaks = (
        replace(a_break(Charge.BREAKS, "wrong"), reproduced=False),
        replace(a_break(Charge.BREAKS, "right"), reproduced=True),
    )
    assert counted(judged(broken=2, breaks=breaks), shown).broken == 1
    assert counted(judged(broken=2, breaks=breaks[1:]), shown).broken == 2


def test_the_table_is_plain_where_it_is_piped() -> None:
    stream = io.StringIO()
    table([judged(**BREAKS, multi_gpu=Tried(True, ""))], "keras==2.2.4", stream)
    text = stream.getvalue()
    assert "\x1b" not in text
    assert "fix.py: fails" in text
    assert "through multi_gpu_model (simulated on the CPU) yes" in text
    assert "breaks what worked: on 4 of 8 graphs" in text


def test_a_graph_is_told_in_a_line() -> None:
    lines = (
        "inputs = Input(shape=(1,))",
        "lambda_a, lambda_b = Lambda(lambda x: [x, x])(inputs)",
        "add = Add()([lambda_a, lambda_b])",
    )
    assert graph_line(write_source(REPORTED, "keras2")) == "; ".join(lines)


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("dialect", ["keras", "tf_keras", "tf.keras", "keras2"])
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
    source = write_source(REPORTED, "keras2")
    script = showing(source, "keras2", RAISED, "keras.models", proposed, "fix.py", BESIDE)
    assert script.script.raises == "KeyError"
    tree = ast.parse(script.text)
    (text,) = [
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "PROPOSED"
    ]
    assert text.strip("\n") == proposed.strip("\n")
    assert "clone = cloning.clone_model(model)" in script.text
    assert "harness" not in script.text


@pytest.mark.parametrize(
    ("word", "code", "endless"),
    [("exit code 3", 3, False), ("timed out", None, True), ("out of memory", None, False)],
)
def test_a_script_that_ends_its_process_is_expected_to(word: str, code: int | None, endless: bool) -> None:
    root = replace(RAISED, path="process", raised=Raised(word, ""))
    script = showing("import keras\n\nmodel = 1\n", "keras2", root, "keras.models", "x = 1\n", "fix.py", BESIDE)
    assert (script.code, script.endless, script.script.raises) == (code, endless, "")


def test_the_changed_statements_of_a_module() -> None:
    before = "import a\n\n\ndef f():\n    return 1\n\n\ndef g():\n    return 2\n"
    after = before.replace("return 2", "return 3") + "\n\n@a.export\ndef h():\n    return 4\n"
    assert changed_statements(before, after) == "def g():\n    return 3\n\n\n@a.export\ndef h():\n    return 4\n"
    assert changed_statements(before, before) == ""
