"""Findings that probably have one cause, as the reports group them."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from clonediff.reports.groups import grouped, sentences
from clonediff.reports.html import page
from clonediff.reports.reading import read_run
from clonediff.reports.records import Finding, Raised
from clonediff.reports.summary import summary

from .making import difference, finding, run_folder

CALLS = "tf_keras/src/engine/functional.py:process_node"


def raises(number: int, type_: str, frame: str, calling: str = "", **changes: object) -> Finding:
    root = difference(1, raised=Raised(type_, "no", frame, calling))
    return msgspec.structs.replace(finding(number, differences=(root,)), **changes)


REFUSED = raises(0, "ValueError", "tf_keras/src/engine/input_spec.py:assert_input_compatibility", CALLS)
TOO_SHORT = raises(1, "IndexError", "tf_keras/src/layers/core/einsum_dense.py:_analyze_split_string", CALLS)
UNREAD = raises(2, "TypeError", "tf_keras/src/saving/serialization_lib.py:deserialize_keras_object")
UNREAD_TOO = raises(3, "ValueError", "tf_keras/src/saving/serialization_lib.py:deserialize_keras_object")
OTHER = finding(4)


def test_what_one_caller_brings_layers_to_raise_is_a_group_in_the_order_of_its_first() -> None:
    groups = grouped([OTHER, REFUSED, UNREAD, TOO_SHORT, UNREAD_TOO])
    assert [group.findings for group in groups] == [(OTHER,), (REFUSED, TOO_SHORT), (UNREAD, UNREAD_TOO)]
    assert [bool(group.why) for group in groups] == [False, True, True]
    assert CALLS in groups[1].why


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(msgspec.structs.replace(TOO_SHORT, cloner="fixed"), id="another cloner"),
        pytest.param(msgspec.structs.replace(TOO_SHORT, generation="tf_keras"), id="another generation"),
        pytest.param(raises(1, "IndexError", "a.py:f", "tf_keras/src/engine/sequential.py:add"), id="another caller"),
        pytest.param(
            msgspec.structs.replace(
                REFUSED,
                id="x",
                differences=(msgspec.structs.replace(REFUSED.differences[0], check="outputs", path="inference"),),
            ),
            id="raised when the clone runs",
        ),
        pytest.param(msgspec.structs.replace(TOO_SHORT, known="tf-list-of-one"), id="known"),
        pytest.param(msgspec.structs.replace(TOO_SHORT, id="process-lost", differences=()), id="no differences"),
    ],
)
def test_what_is_not_alike_is_no_group(other: Finding) -> None:
    assert [group.why for group in grouped([REFUSED, other])] == ["", ""]
    assert sentences([REFUSED, other]) == []


def test_findings_of_one_known_issue_are_a_group() -> None:
    known = [msgspec.structs.replace(each, known="tf-list-of-one") for each in (REFUSED, UNREAD, OTHER)]
    (group,) = grouped(known)
    assert group.findings == tuple(known)
    assert "tf-list-of-one" in group.why


def test_one_cause_on_two_subjects_is_a_group() -> None:
    both = [msgspec.structs.replace(OTHER, subject=subject) for subject in ("keras", "keras/jax")]
    assert [group.findings for group in grouped(both)] == [tuple(both)]


def test_no_findings_no_groups() -> None:
    assert grouped([]) == []


def test_the_page_and_the_summary_say_what_is_probably_one_cause(tmp_path: Path) -> None:
    read = read_run(run_folder(tmp_path, [REFUSED, TOO_SHORT, OTHER]))
    (said,) = sentences([REFUSED, TOO_SHORT, OTHER])
    assert said.startswith(f"Probably one cause: {REFUSED.id}, {TOO_SHORT.id} (")
    (line,) = (line for line in summary(read).splitlines() if line.startswith("- Probably one cause: "))
    assert REFUSED.id in line
    assert TOO_SHORT.id in line
    assert said in page(read)
