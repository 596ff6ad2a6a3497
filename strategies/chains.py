"""Sequentials: what links in a chain."""

from __future__ import annotations

from clonediff.strategies.graph import Call, Function, Layer, Ref, call_refs


def links(layer: Layer, call: Call, newest: Ref) -> bool:
    """Whether a call takes the newest tensor and gives one tensor, not a list of one."""
    function = layer.arg("function")
    return (
        list(call_refs(call)) == [newest]
        and call.outputs == 1
        and (not isinstance(function, Function) or function.container == "one")
    )
