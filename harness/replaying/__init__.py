"""A finding, a graph or a known issue tried once more: is it fixed, still broken, changed?

Owns what these words mean, how what is to be replayed is read, and how it is tried on a subject. Must not import Keras.
"""

from harness.replaying.outcome import Expected, Outcome, Replayed, replayed, shows
from harness.replaying.trying import still_breaks

__all__ = ["Expected", "Outcome", "Replayed", "replayed", "shows", "still_breaks"]
