"""What a model is fed, in words: random numbers of the shapes that it says it takes."""

from __future__ import annotations

from collections.abc import Mapping

from clonediff.harness.subjects.outcomes import ModelDescribed


def described(seen: ModelDescribed) -> list[str]:
    """What each input was given, for a person, and how a size was found that the model leaves open."""
    lines = []
    for each, spec in zip(seen.inputs, seen.suited.inputs, strict=True):
        shape = ", ".join(str(size) for size in (spec["batch"], *spec["shape"]))
        how = {"ids": f", below {spec.get('high')}", "mask": ", 0 and 1"}.get(spec.get("fill", ""), "")
        lines.append(f"{each.name}: {each.dtype} ({shape}){how}")
    tried, found = seen.suited.refusals, seen.suited.sizes
    if tried and found:
        lines.append(f"size {_sizes(found)}, found by trying: with {_sizes(tried[0].sizes)}, {tried[0].why}")
    return lines


def refused(seen: ModelDescribed) -> str:
    """The sizes that were tried, where the model took none of them; "" where it did, or none was tried."""
    if seen.suited.sizes or not seen.suited.refusals:
        return ""
    return ", ".join(dict.fromkeys(_sizes(each.sizes) for each in seen.suited.refusals))


def _sizes(sizes: Mapping[str, int]) -> str:
    """Sizes as one number, where there is one for all, or by name."""
    if len(set(sizes.values())) == 1:
        return str(next(iter(sizes.values())))
    return " ".join(f"{name}={size}" for name, size in sizes.items())
