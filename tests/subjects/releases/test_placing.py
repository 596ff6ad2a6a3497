"""Which way a release is had: by what is installed, by what is asked for, by what the machine has.

The entries are made by hand, sealed as an installation seals them: nothing is started here.
"""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec
import pytest

from clonediff.harness.subjects import Subject
from clonediff.harness.subjects.place import How
from clonediff.harness.subjects.presence import without
from clonediff.harness.subjects.releases import ReleaseError, place_of, store
from clonediff.harness.subjects.releases.building import around_now, entry_of, stack_entry
from clonediff.harness.subjects.releases.store import Manifest
from clonediff.harness.subjects.releases.table import stack_of

KERAS = Subject.parse("keras==2.2.4")
STACK = stack_of("keras", "2.2.4")
assert STACK is not None
PLAIN = Manifest(
    release="",
    how="own stack",
    python_version="3.7.16",
    versions={},
    bytes=0,
    seconds=0.0,
    installed="2026-11-21T02:00:00+00:00",
    by="pip",
    clonediff="0.1.0",
)

NO_TENSORFLOW = without(KERAS, "tensorflow") is not None

needs_tensorflow = pytest.mark.skipif(NO_TENSORFLOW, reason="v1 mode needs the TensorFlow beside clonediff")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLONEDIFF_CACHE", str(tmp_path))


def seal(entry: str, manifest: Manifest, subject: Subject = KERAS) -> Path:
    with store.building(entry) as folder:
        (folder / "site").mkdir()
        if manifest.python is not None:
            (folder / manifest.python).parent.mkdir(parents=True)
            (folder / manifest.python).symlink_to(sys.executable)
        store.seal(folder, msgspec.structs.replace(manifest, checked=(around_now(subject, manifest),)))
    return store.folder_of(entry)


def install_on_stack() -> tuple[Path, Path]:
    assert STACK is not None
    stack = stack_entry(STACK)
    versions = {"tensorflow": "1.15.5", "keras-applications": "1.0.8"}
    below = msgspec.structs.replace(PLAIN, release="tensorflow==1.15.5", versions=versions, python="venv/bin/python")
    keras = msgspec.structs.replace(PLAIN, release="keras==2.2.4", versions={"keras": "2.2.4"}, path=("site",))
    first = seal(stack, below)
    return first, seal(entry_of(KERAS, "own stack", STACK), msgspec.structs.replace(keras, stack=stack))


def install_in_v1_mode() -> Path:
    manifest = msgspec.structs.replace(PLAIN, release="keras==2.2.4", how="v1 mode", path=("site",))
    return seal(entry_of(KERAS, "v1 mode", None), manifest)


def test_on_a_stack_the_interpreter_is_that_of_the_stack_and_the_versions_are_of_both() -> None:
    stack, keras = install_on_stack()
    place = place_of(KERAS, install=False)
    assert (place.python, place.path) == (str(stack / "venv/bin/python"), (str(keras / "site"),))
    assert place.versions == {"tensorflow": "1.15.5", "keras-applications": "1.0.8", "keras": "2.2.4"}


@needs_tensorflow
def test_its_own_stack_is_preferred_where_both_are_there() -> None:
    install_in_v1_mode()
    install_on_stack()
    assert place_of(KERAS, install=False).how == "own stack"
    assert place_of(KERAS, install=False, stack="v1 mode").how == "v1 mode"


@needs_tensorflow
def test_v1_mode_is_taken_where_it_alone_is_there() -> None:
    folder = install_in_v1_mode()
    place = place_of(KERAS)
    assert (place.how, place.python, place.path) == ("v1 mode", sys.executable, (str(folder / "site"),))


def test_a_release_whose_stack_is_gone_is_not_there() -> None:
    assert STACK is not None
    install_on_stack()
    store.discard(stack_entry(STACK))
    with pytest.raises(ReleaseError, match=r"keras==2\.2\.4: is not installed"):
        place_of(KERAS, install=False, say=str)


@pytest.mark.parametrize("spec", ["keras==2.2.4", "keras==3.12.4", "tf_keras==2.20.1", "tensorflow==2.4.4"])
def test_what_is_not_installed_is_told(spec: str) -> None:
    with pytest.raises(ReleaseError, match=f"{spec}: is not installed"):
        place_of(Subject.parse(spec), install=False, say=str)


@pytest.mark.parametrize(
    ("spec", "way"),
    [
        pytest.param("keras==3.12.4", "own stack", id="keras-3"),
        pytest.param("tensorflow==2.4.4", "v1 mode", id="tensorflow"),
        pytest.param("keras==2.2.4", "laid over", id="keras-2"),
        pytest.param("keras", "laid over", id="no-release"),
    ],
)
def test_a_way_that_a_release_does_not_have_is_refused(spec: str, way: How) -> None:
    with pytest.raises(ReleaseError, match=f"{way}"):
        place_of(Subject.parse(spec), stack=way)
