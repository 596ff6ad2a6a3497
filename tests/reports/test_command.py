"""`clonediff report`: what it writes, what it says, and how it ends."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from clonediff.harness.cli import cli
from clonediff.reports.reading import read_run
from clonediff.reports.writing import write_reports
from tests.command_line import CLONEDIFF
from tests.reports.making import finding, run_folder


def report(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["report", *map(str, arguments)])


def test_all_reports_are_written(tmp_path: Path) -> None:
    run_folder(tmp_path, [finding(0), finding(1)])
    done = report(tmp_path)
    assert done.exit_code == 1
    assert done.stdout.startswith("Keras 3.15.1's clone_model is unfaithful on 2 of 2 graphs: 2 new\n")
    assert done.stdout.endswith(f"{tmp_path / 'report.html'}\n")
    for name in ("report.html", "summary.md"):
        assert (tmp_path / name).stat().st_size > 0
    for folder in (tmp_path / "findings").iterdir():
        assert sorted(file.name for file in folder.iterdir()) == ["finding.json", "issue.md", "repro.py"]


def test_a_text_that_is_there_is_left_as_it_is_and_shown(tmp_path: Path) -> None:
    run_folder(tmp_path, [finding(0)])
    folder = next((tmp_path / "findings").iterdir())
    (folder / "issue.md").write_text("# As I would put it\n")
    assert report(tmp_path).exit_code == 1
    assert (folder / "issue.md").read_text() == "# As I would put it\n"
    assert "# As I would put it" in (tmp_path / "report.html").read_text()


def test_a_report_of_a_report_is_the_same(tmp_path: Path) -> None:
    run_folder(tmp_path, [finding(number) for number in range(5)])
    report(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    report(tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_out_is_where_the_page_goes(tmp_path: Path) -> None:
    run_folder(tmp_path / "run", [finding(0)])
    done = report(tmp_path / "run", "--out", tmp_path / "elsewhere" / "page.html")
    assert done.exit_code == 1
    assert (tmp_path / "elsewhere" / "page.html").is_file()
    assert not (tmp_path / "run" / "report.html").exists()
    assert (tmp_path / "run" / "summary.md").is_file()


def test_json_is_the_summary(tmp_path: Path) -> None:
    run_folder(tmp_path, [finding(0)])
    summary = json.loads(report(tmp_path, "--json").stdout)
    assert summary["verdict"] == "new"
    assert summary["worst"]["fixed"]["faithful"] == 60
    assert [each["id"] for each in summary["findings"]] == [finding(0).id]
    assert summary["findings"][0]["counts"] is True
    assert all(Path(path).is_file() for path in summary["written"])


@pytest.mark.parametrize(
    ("findings", "code"),
    [
        pytest.param([], 0, id="nothing"),
        pytest.param([finding(0)], 1, id="one"),
        pytest.param([finding(0, known="lambda-refused")], 0, id="known"),
        pytest.param([finding(0, proof=False)], 0, id="not proven"),
    ],
)
def test_the_exit_code_says_whether_there_is_news(tmp_path: Path, findings: list[object], code: int) -> None:
    assert report(run_folder(tmp_path, findings, proven=False)).exit_code == code  # type: ignore[arg-type]  # a list


def test_a_broken_finding_is_named_and_counts_as_news(tmp_path: Path) -> None:
    run_folder(tmp_path, [finding(0)])
    folder = next((tmp_path / "findings").iterdir())
    (folder / "finding.json").write_text('{"id": 3}')
    done = report(tmp_path)
    assert done.exit_code == 1
    assert f"clonediff: {tmp_path}: findings/{folder.name}/finding.json: " in done.stderr
    assert "`$.id`" in done.stderr


@pytest.mark.parametrize("what", ["gone", "empty"])
def test_no_folder_of_a_run_is_one_line_and_exit_code_2(tmp_path: Path, what: str) -> None:
    (tmp_path / "empty").mkdir()
    done = subprocess.run([*CLONEDIFF, "report", what], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "expected the folder of a run" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_file_that_cannot_be_written_is_named_and_the_old_one_stays(tmp_path: Path) -> None:
    run_folder(tmp_path, [finding(number) for number in range(20)])
    report(tmp_path)
    before = (tmp_path / "report.html").read_bytes()
    limited = ["bash", "-c", 'ulimit -f 8; exec "$@"', "limited", *CLONEDIFF, "report", str(tmp_path)]
    done = subprocess.run(limited, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert f"'{tmp_path / 'report.html'}'" in done.stderr
    assert "Traceback" not in done.stderr
    assert (tmp_path / "report.html").read_bytes() == before
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


@pytest.mark.skipif(sys.platform != "linux", reason="/dev/full is Linux's")
def test_reports_can_be_written_while_others_read_them(tmp_path: Path) -> None:
    run_folder(tmp_path, [finding(0)])
    read = read_run(tmp_path)
    write_reports(read)
    inode = os.stat(tmp_path / "report.html").st_ino
    with (tmp_path / "report.html").open("rb") as reader:
        write_reports(read)
        assert reader.read().endswith(b"</html>")
    assert os.stat(tmp_path / "report.html").st_ino != inode


def test_a_run_that_was_moved_is_read_where_it_is(tmp_path: Path) -> None:
    run_folder(tmp_path / "here", [finding(0)])
    shutil.move(tmp_path / "here", tmp_path / "there")
    (tmp_path / "latest").symlink_to("there")
    assert report(tmp_path / "latest").exit_code == 1
    assert (tmp_path / "there" / "report.html").is_file()
