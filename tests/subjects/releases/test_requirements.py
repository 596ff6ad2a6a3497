"""What a release requires, read from real metadata in a folder, and what of it has to be laid beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from clonediff.harness.subjects.releases.requirements import Surroundings, beside, lacking, version_beside, versions_in


def lay(folder: Path, name: str, version: str, *requires: str) -> None:
    info = folder / f"{name}-{version}.dist-info"
    info.mkdir(parents=True)
    lines = [f"Requires-Dist: {each}" for each in requires]
    (info / "METADATA").write_text("\n".join(["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}", *lines]))


def around(python: str | None = None, **versions: str) -> Surroundings:
    held = {name.replace("_", "-"): version for name, version in versions.items()}
    return Surroundings(held.get, python)


@pytest.mark.parametrize(
    ("requirement", "missing", "unmet"),
    [
        pytest.param("h5py", [], [], id="there"),
        pytest.param("h5py<3", ["h5py<3"], [], id="there-in-another-version"),
        pytest.param("dm-tree", ["dm-tree"], [], id="not-there"),
        pytest.param("Dm_Tree>=0.1", ["dm-tree>=0.1"], [], id="spelled-otherwise"),
        pytest.param("dm-tree; extra == 'tests'", [], [], id="for-an-extra"),
        pytest.param("dm-tree; python_version < '3.8'", [], [], id="for-another-python"),
        pytest.param("tensorflow<2.21,>=2.20", [], ["tensorflow<2.21,>=2.20 (2.21.0)"], id="never-a-tensorflow"),
        pytest.param("numpy<2", [], ["numpy<2 (2.4.6)"], id="never-a-numpy"),
        pytest.param("jax", [], ["jax (not there)"], id="never-a-jax"),
    ],
)
def test_what_is_lacking(requirement: str, missing: list[str], unmet: list[str], tmp_path: Path) -> None:
    lay(tmp_path, "Keras", "3.0.5", requirement)
    assert lacking(tmp_path, around(h5py="3.14.0", tensorflow="2.21.0", numpy="2.4.6")) == (missing, unmet)


def test_markers_are_those_of_the_interpreter_that_it_is_laid_for(tmp_path: Path) -> None:
    lay(tmp_path, "Keras", "2.2.4", "importlib-metadata; python_version < '3.8'")
    assert lacking(tmp_path, around("3.7.16"))[0] == ["importlib-metadata"]
    assert lacking(tmp_path, around("3.11.7"))[0] == []


def test_what_was_laid_beside_is_met_and_has_requirements_of_its_own(tmp_path: Path) -> None:
    lay(tmp_path, "Keras", "3.0.5", "dm-tree>=0.1")
    lay(tmp_path, "dm_tree", "0.1.10", "attrs>=18", "attrs<99")
    assert lacking(tmp_path, around()) == (["attrs<99,>=18"], [])


def test_a_clash_within_the_folder_is_told_and_ends(tmp_path: Path) -> None:
    lay(tmp_path, "Keras", "2.2.0", "keras-applications==1.0.2")
    lay(tmp_path, "keras_applications", "1.0.8")
    assert lacking(tmp_path, around()) == ([], ["keras-applications==1.0.2 (1.0.8)"])


def test_versions_by_their_plain_names(tmp_path: Path) -> None:
    lay(tmp_path, "Keras_Applications", "1.0.8")
    assert versions_in(tmp_path) == {"keras-applications": "1.0.8"}


def test_what_is_beside_clonediff_is_met_by_what_is_installed() -> None:
    assert version_beside("packaging") is not None
    assert version_beside("no-such-package") is None
    assert beside().version_of("packaging") == version_beside("packaging")
