"""The script of a finding as a test for any project that runs pytest."""

from __future__ import annotations

import json
import re
from textwrap import indent

from clonediff.harness.scripts.reproducer import Script


class NoTestError(ValueError):
    """A script of which no test can be made; the message says why."""


def pytest_test(script: Script, name: str, title: str) -> str:
    """A file with one test, the script itself, which is expected to fail until the bug is mended."""
    if not script.raises.isidentifier() or script.raises.isupper():
        raise NoTestError("its script does not end in an exception, so that a test cannot fail")
    name = re.sub(r"\W+", "_", f"test {name}", flags=re.ASCII)
    reason = json.dumps(" ".join(title.split()), ensure_ascii=False)
    mark = f"@pytest.mark.xfail(strict=True, reason={reason})"
    return f"import pytest\n\n\n{mark}\ndef {name}():\n{indent(script.text, '    ')}"
