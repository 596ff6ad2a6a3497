"""`--releases`: what can be written, which releases it stands for, and what is said of what cannot be read."""

from __future__ import annotations

import pytest

from clonediff.harness.answers.history.releases_option import ReleasesError, VersionsThere, lines, parse, speaks
from clonediff.harness.subjects.subject import Subject

KERAS = (
    "2.1.6",
    "2.2.4",
    "2.2.5",
    "2.4.3",
    "3.9.2",
    "3.10.0",
    "3.11.0",
    "3.12.0",
    "3.12.4",
    "3.13.0",
    "3.15.1",
    "3.16.0rc1",
)
THERE = {
    "keras": VersionsThere(KERAS, KERAS),
    "tf_keras": VersionsThere(("2.15.0", "2.16.0", "2.20.1"), ("2.15.0", "2.16.0", "2.20.1")),
    "tensorflow": VersionsThere(("1.15.5", "2.4.4", "2.15.1", "2.16.1"), None),
}


def asked(*specs: str) -> dict[str, tuple[str, ...]]:
    return {str(line): line.asked for line in lines(parse(specs), THERE)}  # type: ignore[arg-type]  # keys are packages


@pytest.mark.parametrize(
    ("spec", "versions"),
    [
        ("keras==3.12.4", ("3.12.4",)),
        ("keras==9.9.9", ("9.9.9",)),
        ("keras==3.16.0rc1", ("3.16.0rc1",)),
        ("keras>=3.10,<3.13", ("3.10.0", "3.11.0", "3.12.0", "3.12.4")),
        ("keras >= 3.10, < 3.13", ("3.10.0", "3.11.0", "3.12.0", "3.12.4")),
        ("keras>=3.10<3.13", ("3.10.0", "3.11.0", "3.12.0", "3.12.4")),
        ("keras>=3.10,!=3.11.0,<3.12", ("3.10.0",)),
        ("keras~=3.12.0", ("3.12.0", "3.12.4")),
        ("keras==3.12.*", ("3.12.0", "3.12.4")),
        ("keras==3.10..3.12", ("3.10.0", "3.11.0", "3.12.0", "3.12.4")),
        ("keras==3.10..3.12.0", ("3.10.0", "3.11.0", "3.12.0")),
        ("keras==3.10..3.12.0+x", ("3.10.0", "3.11.0", "3.12.0")),
        ("keras == 3.13 .. 3.15", ("3.13.0", "3.15.1")),
        ("keras==2.2..2.2", ("2.2.4", "2.2.5")),
        ("keras", ("2.2.4", "2.2.5", "3.9.2", "3.10.0", "3.11.0", "3.12.0", "3.12.4", "3.13.0", "3.15.1")),
        ("keras<3", ("2.2.4", "2.2.5")),
        ("keras>=9", ()),
        ("keras==3.12.4, keras==3.12.0; keras>=3.15 keras==3.12", ("3.12.0", "3.12.4", "3.15.1")),
    ],
)
def test_the_releases_of_a_specification(spec: str, versions: tuple[str, ...]) -> None:
    assert asked(spec) == {"keras": versions}


def test_a_release_that_is_named_is_spelled_as_on_the_index_and_asked_for_once() -> None:
    assert asked("keras==3.12 keras==3.12.0 keras>=3.12,<3.13") == {"keras": ("3.12.0", "3.12.4")}
    assert asked("keras==3.99 keras==3.99.0") == {"keras": ("3.99",)}


def test_a_tree_is_a_release_that_is_named() -> None:
    snapshot = "3.16.0+g3422977a5e.dirty-1c0f2a9b"
    named = {"../keras/jax": f"keras=={snapshot}/jax", "keras-nightly": "keras-nightly==3.17.0.dev2026112602"}
    items = parse(["keras==3.12.4 ../keras/jax, keras-nightly"], lambda part: named.get(part, part))
    assert {str(line): line.asked for line in lines(items, THERE)} == {  # type: ignore[arg-type]  # keys are packages
        "keras": ("3.12.4", "3.17.0.dev2026112602"),
        "keras/jax": (snapshot,),
    }
    here = {"keras": VersionsThere(("3.15.1", snapshot))}
    assert lines(parse(["keras>=3.15"]), here)[0].asked == ("3.15.1",)  # type: ignore[arg-type]  # keys are packages


def test_packages_backends_and_devices_are_lines_of_their_own() -> None:
    found = asked("keras>=3.13,<=3.15.1/jax", "tf_keras tensorflow==2.4.4 keras==3.12.4", "keras==3.12.4/torch@gpu:1")
    assert found == {
        "keras/jax": ("3.13.0", "3.15.1"),
        "tf_keras": ("2.15.0", "2.16.0", "2.20.1"),
        "tensorflow": ("2.4.4",),
        "keras": ("3.12.4",),
        "keras/torch@gpu:1": ("3.12.4",),
    }


def test_all_is_every_package_without_what_no_subject_can_be() -> None:
    found = asked("all")
    assert list(found) == ["keras", "tf_keras", "tensorflow"]
    assert found["tensorflow"] == ("2.4.4", "2.15.1")


def test_a_backend_that_a_generation_lacks_leaves_its_releases_out() -> None:
    assert speaks(Subject.parse("keras"), "2.2.4")
    assert not speaks(Subject.parse("keras/jax"), "2.2.4")
    assert asked("keras<3.10/jax") == {"keras/jax": ("3.9.2",)}


def test_what_exists_and_was_not_asked_for_is_known() -> None:
    (line,) = lines(parse(["keras>=3.12,<3.15"]), THERE)  # type: ignore[arg-type]  # keys are packages
    assert line.asked == ("3.12.0", "3.12.4", "3.13.0")
    assert line.between == ("2.2.4", "2.2.5", "3.9.2", "3.10.0", "3.11.0", "3.15.1")
    assert not line.named
    (line,) = lines(parse(["tensorflow==2.4.4"]), THERE)  # type: ignore[arg-type]  # keys are packages
    assert line.between is None
    assert line.named == {"2.4.4"}
    assert line.at("2.4.4") == Subject.parse("tensorflow==2.4.4")


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("", "no release is named"),
        (">=3.10", "needs its package first"),
        ("keras/jax,>=3.10", "needs its package first"),
        ("kerras==3.1", "unknown package 'kerras'"),
        ("3.10.0", "write each release with its package"),
        ("keras==3.10.0,3.11.0", "'3.11.0' is neither"),
        ("keras==3.x", "'3.x' is not a version"),
        ("keras==2.4.3", "ask for tensorflow==2.4.x"),
        ("keras>=x", "write a range as in a requirement"),
        ("keras==3.15..3.10", "from one version up to another"),
        ("keras==3.15..", "from one version up to another"),
        ("keras>=3.10..3.12", "from one version up to another"),
        ("keras==3.1/pytorch", "no backend 'pytorch'"),
        ("keras>=3.1/pytorch", "no backend 'pytorch'"),
        ("keras@tpu", "unknown device 'tpu'"),
        ("all/jax", "unknown package 'all'"),
        ("keras=3.10", "neither a release nor a range"),
    ],
)
def test_what_cannot_be_read_is_said_with_what_to_write(spec: str, said: str) -> None:
    with pytest.raises(ReleasesError) as error:
        parse([spec])
    assert said in str(error.value)
    assert "\n" not in str(error.value)
