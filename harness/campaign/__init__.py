"""Runs many trials within a budget, on one machine or on a cluster.

`campaign` gives shards, each a seed and a count, to the workers of `pools`: local threads, each with a subject's
process, or the workers of a Dask cluster. `tasks` has the work: trying a shard, and reducing a finding. `record`
writes each finding at once, and `corpus` stores its graph for the next run.
"""
