"""Many trials within a budget, on one machine or on a cluster.

`campaign` hands shards, a seed and a count each, to the workers of `pools`: threads here, each with a process of a
subject, or those of a Dask cluster. A worker tries a shard or makes a finding smaller (`tasks`), and returns `Counts`.
`record` writes a finding when it is seen, and `corpus` keeps it for the next run.
"""
