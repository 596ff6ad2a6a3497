"""A question of what a call gives, as the text that a Keras is asked to try."""

from __future__ import annotations

from clonediff.harness.source.dialect import Dialect
from clonediff.harness.source.script_lines import ScriptLines
from clonediff.strategies.asking import Question
from clonediff.strategies.graph import Ref


class _Numbered:
    """The tensors of a question, which the text finds in a list."""

    def word(self, ref: Ref) -> str:
        """The entry of the list."""
        return f"tensors[{ref.node}]"


def write_question(question: Question, dialect: Dialect) -> str:
    """The text that makes the layer, and leaves a function in `calls` for each call, of a list of the tensors."""
    script = ScriptLines(dialect)
    made = {0: script.made(question.layer)}
    calls = [script.called(question.layer, call, _Numbered(), made, True) for call in question.calls]
    script.lines.append(f"calls = [{', '.join(f'lambda tensors: {call}' for call in calls)}]")
    return script.text()
