"""The text of an issue for a finding, in Markdown, in the order in which a maintainer wants to read it.

Owns the words for what was promised and what was broken. Nothing in it is for clonediff's own users: a maintainer need
not know it.
"""

from __future__ import annotations

import re
from html import escape

from clonediff.reports.markup import LONGEST, cut, visible
from clonediff.reports.records import SEVERITIES, Difference, Finding, cloner_said

PROMISES = {
    "made": "A model that can be built and run can be cloned.",
    "weights": "A clone has the weights of the original: as many, in the same order, with the same names, shapes, "
    "dtypes and trainable flags; after `set_weights` they have the same values.",
    "own": "A clone has variables, states and layers of its own, each freshly initialised.",
    "sharing": "Two calls share a layer in the clone exactly where they do in the original.",
    "outputs": "With the weights of the original, a clone computes the same outputs for the same inputs.",
    "masks": "Every tensor of the clone has the mask that it has in the original, or none where that has none.",
    "structure": "A clone has the same layers, configs, names and calls, in the same order and nesting.",
    "untouched": "Cloning leaves the original as it was.",
    "again": "Cloning twice gives the same model twice.",
    "training": "Trained on a batch, a compiled clone gives the same losses and metrics, and has the same weights.",
    "warned": "Cloning warns of nothing that building the model does not warn of.",
}
_CLONERS = {
    "upstream": "`clone_model`",
    "fixed": "`clonediff.clone_model` of clonediff",
}
MOST = 10


def issue(finding: Finding, script: str) -> str:
    """The text. `script` is what shows it, a screen of plain Keras."""
    root = finding.root
    parts = [f"# {escaped(finding.title)}", *_what(finding)]
    if root is not None:
        parts += ["## What should happen", PROMISES.get(root.check, f"{code(root.check)} should hold.")]
    parts += ["## Script", fenced(script.rstrip("\n"), "python"), _proof(finding)]
    parts += ["## Versions", _versions(finding)]
    parts.append(f"Found by clonediff, as {code(finding.id)}.")
    return visible("\n\n".join(parts) + "\n")


def _what(finding: Finding) -> list[str]:
    root = finding.root
    parts = ["## What happens"]
    if root is None:
        parts.append("The model cannot be built or run at all, so there is nothing to clone.")
        return [*parts, fenced(finding.detail)] if finding.detail else parts
    severity = f": {SEVERITIES[finding.severity]}" if finding.severity is not None else ""
    parts.append(
        f"{_who(finding)} raises for the model below, which is built and runs."
        if root.check == "made"
        else f"{_who(finding)} does not give the same model as the one below{severity}."
    )
    parts.append(_told(root))
    if root.raised is not None:
        frame = f", raised in {code(root.raised.frame)}" if root.raised.frame else ""
        parts += [f"{code(root.raised.type)}{frame}:", fenced(root.raised.message)]
    if root.numbers is not None:
        parts.append(_numbers(root))
    followers = finding.differences[1:]
    if followers:
        parts.append("Its consequences:")
        lines = [f"- {code(item.path)}: {code(item.expected)} becomes {code(item.found)}" for item in followers[:MOST]]
        if len(followers) > MOST:
            lines.append(f"- and {len(followers) - MOST} more")
        parts.append("\n".join(lines))
    return parts


def _told(root: Difference) -> str:
    lines = [f"- where: {code(root.path)}"] if root.check != "made" else []
    if root.first is not None:
        lines.append(f"- first seen at: {code(root.first.name or 'the model itself')} ({escaped(root.first.kind)})")
    if root.raised is None and root.digests is None:
        lines += [f"- original: {code(root.expected)}", f"- clone: {code(root.found)}"]
    return "\n".join(lines)


def _numbers(root: Difference) -> str:
    assert root.numbers is not None
    numbers = root.numbers
    return (
        f"{numbers.said}. The first{f', {numbers.at}' if numbers.at else ''}: "
        f"{code(numbers.expected)} in the original, {code(numbers.found)} in the clone."
    )


def _proof(finding: Finding) -> str:
    rest = ": look at it before it is sent anywhere" if finding.proof is False else ""
    return escaped(f"{finding.alone[:1].upper()}{finding.alone[1:]}{rest}.")


def _versions(finding: Finding) -> str:
    rows = [f"| {escaped(name)} | {escaped(version)} |" for name, version in finding.versions.items()]
    return "\n".join(("| package | version |", "|---|---|", *rows)) if rows else "Not recorded."


def _who(finding: Finding) -> str:
    return _CLONERS.get(finding.cloner, f"the cloner {code(cloner_said(finding.cloner))}")


def code(text: str) -> str:
    """Text as code within a line: no backtick, tag or mention in it means anything."""
    line = " ".join(visible(cut(text, LONGEST)).split()) or " "
    ticks = "`" * (1 + max((len(run) for run in re.findall(r"`+", line)), default=0))
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{pad}{line}{pad}{ticks}"


def fenced(text: str, language: str = "") -> str:
    text = cut(text)
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    return f"{fence}{language}\n{text}\n{fence}"


def escaped(text: str) -> str:
    """Text within a line or a table of Markdown, where nothing of it is markup, a link or a mention."""
    line = " ".join(cut(text, LONGEST).split())
    # An underscore within a word is one in Markdown too, and a title is pasted where nothing is.
    line = escape(re.sub(r"([\\`*\[\]#|~!]|(?<!\w)_|_(?!\w))", r"\\\1", line), quote=False)
    return re.sub(r"@(?=\w)", "@\u200b", line)
