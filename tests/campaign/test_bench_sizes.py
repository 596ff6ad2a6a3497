"""What grows with the size of a model, and how fast: the exponents, the table and the picture."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree as XML

import pytest

from clonediff.harness.campaign.bench_sizes import BUILDING, FAMILIES, Grown, SizeSpeed, Timed, exponents
from clonediff.harness.cli.text.sizes import sizes_picture, sizes_text
from clonediff.harness.trials.checks import CHECKS
from tests.command_line import Command

SIZES = (5, 20, 50, 200, 500, 1000)


def grown(*exponent: tuple[str, float]) -> Grown:
    """Parts that take a second each where there are 200 layers."""
    timed = tuple(Timed(size, {part: (size / 200) ** each for part, each in exponent}) for size in SIZES)
    return Grown("layers", "layers in a row", timed, exponents(timed))


def test_an_exponent_is_that_of_the_larger_sizes() -> None:
    """A cost that is there for any model hides how it grows in small ones."""
    timed = [Timed(size, {BUILDING: 0.003 * size, "check own": 0.05 + 0.00001 * size**2}) for size in SIZES]
    found = exponents(timed)
    assert found[BUILDING] == pytest.approx(1.0)
    assert 1.6 < found["check own"] <= 2.0


def test_what_takes_no_time_has_no_exponent() -> None:
    assert exponents([Timed(size, {BUILDING: 0.0001}) for size in SIZES]) == {}


def test_what_grows_faster_than_building_is_named() -> None:
    found = grown((BUILDING, 1.0), ("check own", 1.9), ("observing", 1.1))
    assert found.faster() == ["check own"]
    text = sizes_text(SizeSpeed("keras", "3.15.1", (found,)))
    assert text[-1] == "faster than building: check own"
    assert re.fullmatch(r"check own +.* 1\.90", next(line for line in text if line.startswith("check own")))


def test_the_picture_has_a_line_for_each_part_that_takes_time() -> None:
    found = grown((BUILDING, 1.0), ("check own", 1.9), ("check made", -3.0))
    drawn = XML.fromstring(sizes_picture(SizeSpeed("keras", "3.15.1", (found,))))
    paths = drawn.findall(".//{http://www.w3.org/2000/svg}path")
    assert [each.findtext("{http://www.w3.org/2000/svg}title") for each in paths] == [BUILDING, "check own"]
    assert all(each.get("d", "").count("L") == len(SIZES) - 1 for each in paths)
    assert "grows as size^1.90" in "".join(drawn.itertext())


def test_a_part_that_took_no_time_has_no_line() -> None:
    timed = tuple(Timed(size, {BUILDING: 0.0, "check own": 0.0}) for size in SIZES)
    drawn = XML.fromstring(sizes_picture(SizeSpeed("keras", "3.15.1", (Grown("layers", "layers", timed, {}),))))
    assert drawn.findall(".//{http://www.w3.org/2000/svg}path") == []


def test_bench_times_small_sizes(clonediff: Command, warm_commands: None, tmp_path: Path) -> None:
    file = tmp_path / "sizes.svg"
    code, out, err = clonediff("bench", "--sizes", "--largest", "5", "--json", "--picture", str(file))
    assert code == 0, err
    found = json.loads(out)
    sizes = {each["family"]: [its["size"] for its in each["timed"]] for each in found["families"]}
    assert sizes == {each.name: [size for size in each.sizes if size <= 5] for each in FAMILIES}
    for each in found["families"]:
        seconds = each["timed"][-1]["seconds"]
        for part in (BUILDING, "upstream's clone", "fixed's clone", "observing", "saving", "two clones more"):
            assert seconds[part] > 0, part
        assert sum(name.startswith("check ") for name in seconds) == len(CHECKS)
    assert XML.parse(file).getroot().tag.endswith("svg")


def test_a_size_is_for_sizes(clonediff: Command) -> None:
    code, _, err = clonediff("bench", "--largest", "5")
    assert code == 2
    assert "--sizes" in err
