"""A release that is tried is tried as in a search: by the same known issues, and by a cloner that can do something."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from clonediff.harness.answers.history.one_release import try_release, with_answer
from clonediff.harness.answers.history.question import question_of
from clonediff.harness.answers.history.record import ReleaseRow, ReleaseVerdict
from clonediff.harness.subjects.place import BESIDE, ReleasePlace
from clonediff.harness.subjects.subject import Subject
from clonediff.harness.trials.trial import Trial

pytestmark = pytest.mark.usefixtures("warm_commands")


@pytest.mark.parametrize("release", ["keras==2.2.4"])
def test_multi_gpu_has_the_known_issues_of_what_it_clones_with(
    release: str, release_place: Callable[[str], ReleasePlace]
) -> None:
    place = release_place(release)
    question = question_of("keras2-two-outputs", "multi_gpu")
    row = try_release(question, Subject.parse(release), lambda subject: place)
    assert row.verdict is ReleaseVerdict.BREAKS, row
    assert [each.known for each in row.causes] == ["keras2-two-outputs"]


def test_a_cloner_that_can_do_nothing_there_says_nothing_of_the_release() -> None:
    row = try_release(question_of("input-name", "multi_gpu"), Subject.parse("keras"), lambda subject: BESIDE)
    assert (row.verdict, row.causes) == (ReleaseVerdict.CANNOT_TELL, ())
    assert row.reason.startswith("multi_gpu: keras has no multi_gpu_model")


def test_a_reason_is_one_line_that_no_terminal_obeys() -> None:
    row = ReleaseRow("keras", "keras", "", ReleaseVerdict.NOT_TO_BE_HAD)
    tried = Trial(not_tried="a \x1b[31mred\x07\n  reason " + "x" * 400)
    reason = with_answer(row, question_of("input-name", "upstream"), tried).reason
    assert "a \\x1b[31mred\\x07 reason xxx" in reason
    assert len(reason) == 300
