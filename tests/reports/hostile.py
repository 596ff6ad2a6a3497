"""Runs made to hurt: a text that would like to run in every field of every record."""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec.structs import replace

from clonediff.reports.records import Difference, Finding, KnownMet, Numbers, Place, Raised, Run, Severity
from clonediff.strategies.graph import Call, Graph, Input, Layer, Ref
from tests.reports.making import HOSTILE, finding, run_folder

POISON = " ".join(
    (
        "</script></style></title></textarea><script>window.hacked=1;alert(1)</script>",
        '"><img src=x onerror="window.hacked=1"><svg onload=window.hacked=1><details open ontoggle=hacked=1>',
        "' onmouseover='window.hacked=1' autofocus onfocus='window.hacked=1' x='",
        "javascript:window.hacked=1//https://evil.example/x www.evil.example data:text/html,<script>1</script>",
        "<!--<script>--!><![CDATA[ ]]> <?xml version='1.0'?> <!DOCTYPE x [<!ENTITY a 'b'>]> &a; &#x3c;b&#x3e;",
        "safe\u202e\u2066\u200f\u061c\ufeff\U000e0041evil\x00\x08\x1b[31m\x7f\x85\ud800\uffff end",
        "[a](javascript:window.hacked=1) ![b](http://evil.example) <http://c.example> `d` **e** | f\n# g @org",
        "${window.hacked=1} {{constructor.constructor('window.hacked=1')()}} %3Cscript%3E \\u003cscript\\u003e",
        HOSTILE,
    )
)
"""All in one text: what ends an element, runs, links, or turns the direction of text."""


def everywhere(text: str) -> tuple[Finding, Run]:
    """A finding and a run with a text in every field that may hold one."""
    graph = Graph(
        (Input((4,), name=text),),
        (Layer(text, (("units", text), (text, 4)), name=f"{text}2", marks=(text,)),),
        (Call(0, (Ref(0),), ((text, Ref(0)), ("by", text))),),
        Ref(0),
        Ref(1),
        name=text,
    )
    place = Place(f"{text}2", text, 1)
    differences = (
        Difference("outputs", text, text, text, text, Severity.COMPUTES, place, None, (text, text),
                   Numbers(0.5, 1, 2, (0,), text, text)),
        Difference(text, text, text, text, text, Severity.CRASHES, place, Raised(text, text, text)),
    )  # fmt: skip
    made = finding(0, title=text, differences=differences, source=text, versions={text: text})
    made = replace(
        made,
        graph=msgspec.Raw(msgspec.json.encode(graph)),
        blame=text,
        detail=text,
        first_seen=text,
    )
    run = Run(
        started=text,
        ended=text,
        subjects={text: {text: text}, "keras": {"keras": text}},
        trials=3,
        verdicts={text: 3, f"{text}: {text}": 1},
        cloners=(text,),
        lost={f"{text}!": text},
        known=(KnownMet(text, text, text, text, 1, text, "javascript:window.hacked=1", text),),
        clonediff=text,
    )
    return made, run


def hostile_folder(path: Path, text: str = POISON) -> Path:
    """The folder of a run with the text in every field and file."""
    # JSON has no halves of a pair: in a record they arrive as something else, and in our own strings never.
    text = text.encode("utf-8", "replace").decode()
    first, run = everywhere(text)
    known = replace(first, id="b", known=text)
    unproven = replace(first, id="c", proof=False, cloner=text[:50])
    folder = run_folder(path, [first, known, unproven], run=run)
    for each in (folder / "findings").iterdir():
        (each / "repro.py").write_text(text)
    next((folder / "findings").iterdir()).joinpath("issue.md").write_text(text)
    broken = folder / "findings" / "<img src=x onerror=window.hacked=1>"
    broken.mkdir()
    (broken / "finding.json").write_text('{"id": "<script>window.hacked=1</script>"')
    with (folder / "events.ndjson").open("a") as file:
        file.write(text.replace("\n", " ") + "\n")
        file.write(msgspec.json.encode({"at": "2026-11-21T03:00:00Z", "event": "lost", "subject": text,
                                        "reason": text}).decode() + "\n")  # fmt: skip
    return folder
