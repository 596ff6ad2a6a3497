"""Small graphs that show an issue each, as JSON, by the id of the issue."""

from __future__ import annotations

import json
from pathlib import Path

EXAMPLES: dict[str, str] = {
    name: json.dumps(graph)
    for name, graph in json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8")).items()
}
