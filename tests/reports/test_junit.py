"""junit.xml, as a CI server reads it: well formed, its counts right, one case for each finding."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from clonediff.reports.junit import junit
from clonediff.reports.reading import read_run
from clonediff.reports.records import Finding
from tests.reports.making import HOSTILE, finding, many, nightly, run_folder

ATTRIBUTES = {
    "testsuites": {"name", "tests", "failures", "errors", "skipped", "time"},
    "testsuite": {"name", "tests", "failures", "errors", "skipped", "time", "timestamp"},
    "testcase": {"name", "classname", "time"},
    "failure": {"message", "type"},
    "error": {"message", "type"},
    "skipped": {"message"},
    "system-out": set(),
}
CHILDREN = {
    "testsuites": {"testsuite"},
    "testsuite": {"testcase"},
    "testcase": {"failure", "error", "skipped", "system-out"},
}


def parsed(path: Path) -> ElementTree.Element:
    """The file, held against the structure that servers read."""
    root = ElementTree.fromstring(junit(read_run(path)).encode())
    assert root.tag == "testsuites"
    for element in root.iter():
        assert set(element.attrib) <= ATTRIBUTES[element.tag], element.tag
        assert {child.tag for child in element} <= CHILDREN.get(element.tag, set())
    for suite in root:
        assert_counted(suite)
        assert len(suite), "a suite without a case makes some servers fail"
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", suite.get("timestamp", ""))
    for name in ("tests", "failures", "errors", "skipped"):
        assert int(root.attrib[name]) == sum(int(suite.attrib[name]) for suite in root)
    return root


def assert_counted(suite: ElementTree.Element) -> None:
    cases = suite.findall("testcase")
    assert int(suite.attrib["tests"]) == len(cases)
    for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        assert int(suite.attrib[name]) == sum(case.find(tag) is not None for case in cases)
    assert all(len(case) <= 1 for case in cases)


def cases(root: ElementTree.Element) -> dict[str, ElementTree.Element]:
    return {case.attrib["name"]: case for case in root.iter("testcase")}


def test_nothing_found_passes_and_is_not_empty(tmp_path: Path) -> None:
    root = parsed(run_folder(tmp_path))
    assert (root.attrib["failures"], root.attrib["errors"]) == ("0", "0")
    assert int(root.attrib["tests"]) > 0


def test_a_finding_is_a_failure_with_its_script(tmp_path: Path) -> None:
    root = parsed(run_folder(tmp_path, [finding(0)]))
    case = cases(root)[finding(0).id]
    assert case.attrib["classname"] == "keras.upstream"
    failure = case.find("failure")
    assert failure is not None
    assert failure.attrib["message"] == finding(0).title
    assert "import keras" in (failure.text or "")


@pytest.mark.parametrize(
    ("found", "says"),
    [
        pytest.param(finding(0, known="lambda-refused"), "known issue lambda-refused", id="known"),
        pytest.param(finding(0, proof=False), "so it does not count", id="not proven"),
    ],
)
def test_what_does_not_count_is_skipped(tmp_path: Path, found: Finding, says: str) -> None:
    root = parsed(run_folder(tmp_path, [found], proven=False))
    skipped = cases(root)[found.id].find("skipped")
    assert skipped is not None
    assert says in skipped.attrib["message"]
    assert root.attrib["failures"] == "0"


def test_known_issues_are_skipped_while_they_break_and_pass_when_gone(tmp_path: Path) -> None:
    found = cases(parsed(run_folder(tmp_path, run=nightly())))
    assert found["lambda-refused"].find("skipped") is not None
    assert found["list-of-one"].find("skipped") is not None
    assert found["input-name"].find("skipped") is None
    assert "no longer breaks" in (found["input-name"].findtext("system-out") or "")


def test_what_could_not_be_tried_or_read_is_an_error(tmp_path: Path) -> None:
    run_folder(tmp_path, [finding(0)], run=nightly())
    next((tmp_path / "findings").iterdir()).joinpath("finding.json").write_text("{")
    found = cases(parsed(tmp_path))
    assert found["not tried"].find("error") is not None
    broken = [case for name, case in found.items() if name.startswith("findings/")]
    assert broken[0].find("error") is not None


def test_hostile_text_stays_text(tmp_path: Path) -> None:
    root = parsed(run_folder(tmp_path, [finding(0, title=HOSTILE)]))
    message = cases(root)[finding(0).id].find("failure").attrib["message"]  # type: ignore[union-attr]  # it is there
    assert message.startswith("</script><img src=x")
    assert "\\x00" in message


def test_five_hundred_findings_are_five_hundred_cases(tmp_path: Path) -> None:
    root = parsed(run_folder(tmp_path, many(500)))
    assert root.attrib["failures"] == "500"
