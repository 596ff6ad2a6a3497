"""The wheel installs one package, which hides no package of a project. Nothing is downloaded."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.version import Version

from tests.helpers.waiting import PATIENCE

pytestmark = pytest.mark.no_keras

ROOT = Path(__file__).parents[1]
PACKED_PATHS = ("clonediff", "harness", "reports", "strategies", "pyproject.toml", "README.md", "LICENSE")
PACKAGES = ("harness", "reports", "strategies")
DATA_FILES = ("*.toml", "*.txt", "*.json", "*.j2", "py.typed")
"""Patterns for the files that are installed besides modules."""

OWN_TEST = """
import harness, reports, strategies
import clonediff
import keras
from clonediff import assert_clones_faithfully, check_clone, clone_model, functional_graphs
from hypothesis import given, settings


def test_the_project_imports_its_own_packages():
    assert [package.OWNER for package in (harness, reports, strategies)] == ["this project"] * 3
    print("CLONEDIFF", clonediff.__file__)


@settings(deadline=None, max_examples=3, database=None, derandomize=True)
@given(functional_graphs(kinds=["Dense", "Add"]))
def test_a_cloner_of_the_project_is_faithful(graph):
    check_clone(graph, clone_model)


def test_a_model_of_the_project_is_cloned():
    inputs = keras.Input((2,))
    assert_clones_faithfully(keras.Model(inputs, keras.layers.Dense(1)(inputs)), costly=False)
"""


def run_command(command: list[str], folder: Path, *, other_code: int = 0) -> str:
    """Run a command without this checkout on its path; assert that it succeeds, and return its output."""
    variables = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "PYTEST"))}
    result = subprocess.run(
        command, cwd=folder, env=variables, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert result.returncode in (0, other_code), result.stdout + result.stderr
    return result.stdout


def wheel_of(source: Path, folder: Path) -> Path:
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", str(folder)]
    run_command([sys.executable, "-m", "pip", "wheel", *options, str(source)], folder)
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the checkout to build in it, since a build leaves files behind."""
    # Do not import setuptools: it fails if a package has imported Python's own distutils before.
    assert Version(version("setuptools")) >= Version("77"), "run `pip install -e '.[test]'`, which brings setuptools 77"
    folder = tmp_path_factory.mktemp("checkout")
    for name in PACKED_PATHS:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def sdist(sources: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sdist")
    build = f"from setuptools import build_meta; build_meta.build_sdist({str(folder)!r})"
    run_command([sys.executable, "-c", build], sources)
    (file,) = folder.glob("*.tar.gz")
    with tarfile.open(file) as archive:
        assert not [member.name for member in archive if member.issym() or member.islnk()], "a link in the sdist"
    return file


@pytest.fixture(scope="module")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a wheel from the sdist, as for a package index."""
    return wheel_of(sdist, tmp_path_factory.mktemp("wheel"))


def test_a_wheel_has_all_files_of_clonediff_and_no_others(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        (entries,) = [name for name in archive.namelist() if name.endswith("entry_points.txt")]
        points = archive.read(entries).decode()
    assert {name.partition("/")[0] for name in names} == {"clonediff"}
    files = [
        file for package in PACKAGES for pattern in ("*.py", *DATA_FILES) for file in (ROOT / package).rglob(pattern)
    ]
    expected = {f"clonediff/{file.relative_to(ROOT).as_posix()}" for file in files}
    assert names == {*expected, "clonediff/__init__.py", "clonediff/py.typed"}
    assert "clonediff = clonediff.harness.cli:main" in points


def test_the_wheels_of_the_checkout_and_the_sdist_are_equal(sources: Path, wheel: Path, tmp_path: Path) -> None:
    contents = []
    for path in (wheel, wheel_of(sources, tmp_path)):
        with zipfile.ZipFile(path) as archive:
            contents.append({name: archive.getinfo(name).CRC for name in archive.namelist() if "RECORD" not in name})
    assert contents[0] == contents[1]


@pytest.mark.parametrize("package", PACKAGES)
def test_no_package_is_imported_under_a_second_name(package: str) -> None:
    code = f"import clonediff.{package}, sys; sys.path.insert(0, {str(ROOT)!r}); import {package}"
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert f"ImportError: import it as `clonediff.{package}`" in result.stderr


@pytest.mark.slow(reason="it starts TensorFlow in two processes; the contents of the wheel are tested above")
def test_a_project_with_packages_of_the_same_names_can_use_clonediff(wheel: Path, tmp_path: Path) -> None:
    python = environment_with(wheel, tmp_path / "venv")
    project = tmp_path / "project"
    for name in PACKAGES:
        (project / name).mkdir(parents=True)
        (project / name / "__init__.py").write_text('OWNER = "this project"\n')
    (project / "test_own.py").write_text(OWN_TEST)
    out = run_command([str(python), "-m", "pytest", "-s", "-q", "-p", "no:cacheprovider", "test_own.py"], project)
    assert "3 passed" in out
    assert f"CLONEDIFF {tmp_path / 'venv'}" in out
    script = str(python.with_name("clonediff"))
    out = run_command([script, "fuzz", "--trials", "2", "--jobs", "1", "--out", "run"], project, other_code=1)
    assert "clonediff's own cloner is faithful on all 2 graphs" in out


def environment_with(wheel: Path, folder: Path) -> Path:
    """Install the wheel and this environment's packages in a new environment; return its Python."""
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    options = ["--no-deps", "--no-index", "--quiet"]
    run_command([sys.executable, "-m", "pip", "--python", str(python), "install", *options, str(wheel)], folder)
    # Python ignores `.pth` files in these folders, so an installed checkout of clonediff is not on the path.
    others = [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]
    (site,) = folder.glob("lib/python*/site-packages")
    (site / "others.pth").write_text("\n".join(others) + "\n")
    return python
