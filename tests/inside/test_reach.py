"""Which statements there are in a file, and that those are seen that a trial runs."""

from __future__ import annotations

from harness.campaign.reach import file_reached
from harness.inside.reach import statements
from harness.search.even_draws import evenly
from harness.subjects.outcomes import Statement
from harness.subjects.process import Limits, SubjectProcess
from harness.subjects.subject import Subject
from harness.trials.graph_trials import GraphTrials
from reports.known import KnownIssues
from strategies import functional_graphs

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


def test_a_statement_ran_if_one_of_its_lines_did_and_some_are_left_aside() -> None:
    its = [
        Statement(1, 3, "clone_model", "return f("),
        Statement(4, 4, "clone_model", "raise ValueError("),
        Statement(5, 5, "_wrap_clone_function.inner", "return x"),
        Statement(6, 6, "_wrap_clone_functions", "return y"),
    ]
    found = file_reached("models/cloning.py", its, {2})
    assert (found.statements, found.ran) == (2, 1)
    assert [each.line for each in found.missed] == [6]
    assert sum(found.aside.values()) == 2


def test_what_trials_run_is_seen_although_the_child_is_replaced() -> None:
    with SubjectProcess(Subject.parse("keras"), limits=Limits(trials=2)) as process:
        there = process.reach(statements=True).statements
        trials = GraphTrials(process, KnownIssues(), cloners=("upstream",), rate=0)
        for drawn in evenly(functional_graphs(generation="keras", features=()), 3, 0):
            trials.try_graph(drawn.graph)
        assert process.recycled
        seen = process.reach().lines
        cloning = {each.first: each for each in there["models/cloning.py"]}
        ran = {cloning[line].function for line in seen["models/cloning.py"] if line in cloning}
        assert "_clone_functional_model" in ran
        assert "_clone_sequential_model" not in ran
        assert "layers/layer.py" in seen
        assert process.reach().lines == {}, "each line is told once"
