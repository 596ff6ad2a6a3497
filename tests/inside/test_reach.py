"""Which statements there are in a file, and that those are seen that a trial runs."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from msgspec.structs import replace

from clonediff.harness.campaign.reach import OUT_OF_REACH, file_reached
from clonediff.harness.inside.reach import RATE, statements
from clonediff.harness.subjects.outcomes import Statement
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.subjects.subject import Subject
from clonediff.harness.subjects.warm_child import Limits
from clonediff.harness.trials.graph_trials import GraphTrials
from clonediff.reports.known import KnownIssues
from clonediff.strategies import Graph
from clonediff.strategies.graph import Call, Input, Layer, Ref

TEXT = '''
import os

X = 1


class A:
    y = 2

    def f(self, x):
        """Says nothing."""
        z: int
        if (x
                and self):
            try:
                return g(
                    x,
                )
            except ValueError:
                raise

        def inner():
            return 1

        return inner


def g(x): return x
'''


def test_statements_are_those_in_functions_that_do_something() -> None:
    found = [(each["first"], each["last"], each["function"]) for each in statements(TEXT)]
    assert found == [
        (13, 14, "A.f"),
        (16, 17, "A.f"),
        (20, 20, "A.f"),
        (22, 22, "A.f"),
        (23, 23, "A.f.inner"),
        (25, 25, "A.f"),
        (28, 28, "g"),
    ]


REFUSING = """
def f(x, y):
    if x:
        return y
    for each in y:
        if each:
            continue
        path = of(each)
        if path:
            path = path[0]
        raise ValueError(path)
    try:
        z = x.z
    except AttributeError:
        z = 1
    else:
        z = 2
        raise TypeError
    return z
"""


def test_a_statement_refuses_if_nothing_but_an_exception_can_come_of_it() -> None:
    assert [each["first"] for each in statements(REFUSING) if each["refuses"]] == [8, 9, 10, 11, 17, 18]


def test_a_statement_ran_if_one_of_its_lines_did_and_some_are_left_aside() -> None:
    its = [
        Statement(1, 3, "Sequential.build", "return f("),
        Statement(4, 4, "Sequential.build", "raise ValueError(", refuses=True),
        Statement(5, 5, "Sequential.pop.inner", "return x"),
        Statement(6, 6, "Sequential.popped", "return y"),
    ]
    found = file_reached("models/sequential.py", its, {2})
    assert (found.statements, found.ran) == (2, 1)
    assert [each.line for each in found.missed] == [6]
    assert sum(found.aside.values()) == 2


def test_of_a_function_that_can_be_reached_a_part_may_be_left_aside() -> None:
    function = "deserialize_node"
    its = [
        Statement(1, 1, function, "return [], {}"),
        Statement(2, 2, function, "input_tensors = []"),
        Statement(3, 3, function, "for input_data in node_data:"),
        Statement(4, 4, "other", "return [unpack_singleton(y)]"),
        Statement(5, 5, function, "return [unpack_singleton(x)]"),
        Statement(6, 6, function, "args = 1"),
    ]
    assert [each.line for each in file_reached("models/functional.py", its, ()).missed] == [1, 4, 6]
    its = [each for each in its if each.first != 5]
    assert [each.line for each in file_reached("models/functional.py", its, ()).missed] == [1, 2, 3, 4, 6]


def test_each_part_that_is_left_aside_is_there_in_the_keras_at_hand() -> None:
    keras = importlib.util.find_spec("keras")
    assert keras is not None
    assert keras.origin is not None
    for one in OUT_OF_REACH:
        text = (Path(keras.origin).parent / "src" / one.file).read_text(encoding="utf-8")
        its = [Statement(**each) for each in statements(text)]
        assert one.why in file_reached(one.file, its, ()).aside, one


FUNCTIONAL = Graph((Input((3,)),), (Layer("ReLU"),), (Call(0, (Ref(0),)),), Ref(0), Ref(1))
SEQUENTIAL = replace(FUNCTIONAL, sequential=True)


def test_what_one_child_runs_again_is_told_again_and_what_it_ran_when_it_is_replaced() -> None:
    with SubjectProcess(Subject.parse("keras"), limits=Limits(trials=2 * RATE + 1)) as process:
        process.reach()
        for _ in range(2):
            assert _cloning_run(process, [FUNCTIONAL] * RATE) >= {"_clone_functional_model"}
        assert not process.recycled
        ran = _cloning_run(process, [SEQUENTIAL, FUNCTIONAL])
        assert process.recycled, "the second of them is another child's"
        assert ran >= {"_clone_sequential_model", "_clone_functional_model"}
        assert process.reach().lines == {}, "nothing ran since"


def _cloning_run(process: SubjectProcess, graphs: list[Graph]) -> set[str]:
    """The functions of Keras' module of cloning that graphs run, since this was asked last."""
    trials = GraphTrials(process, KnownIssues(), cloners=("upstream",), rate=0)
    for graph in graphs:
        trials.try_graph(graph)
    told = process.reach(statements=True)
    assert "layers/layer.py" in told.lines
    cloning = {each.first: each for each in told.statements["models/cloning.py"]}
    return {cloning[line].function for line in told.lines["models/cloning.py"] if line in cloning}
