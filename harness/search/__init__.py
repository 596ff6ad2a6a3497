"""The search: graphs of a seed, the reducer of programs, and the strategy for tests of one's own."""
