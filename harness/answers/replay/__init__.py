"""A finding, a graph or a known issue tried once more: is it fixed, still broken, changed?

Owns what these words mean, how what is to be replayed is read, and how it is tried on a subject. Must not import Keras.
"""

from harness.answers.replay.outcome import Expected, Replayed, ReplayOutcome, replayed, shows
from harness.answers.replay.trying import still_breaks

__all__ = ["Expected", "ReplayOutcome", "Replayed", "replayed", "shows", "still_breaks"]
