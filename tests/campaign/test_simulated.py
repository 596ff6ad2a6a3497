"""What a campaign on many workers takes of its driver."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.campaign.simulated import simulate


@pytest.mark.slow(reason="two minutes of a campaign on a thousand workers that sleep")
def test_a_thousand_workers_leave_most_of_a_core_to_others(tmp_path: Path) -> None:
    figures = simulate(1000, 2.0, tmp_path)
    assert figures.jobs == 1000
    assert figures.causes > 50
    assert figures.core < 0.5
    assert figures.twice == 0
