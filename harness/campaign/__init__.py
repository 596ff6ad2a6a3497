"""Many trials within a budget, on one machine or on a cluster.

`campaign` hands shards, a seed and a count each, to the executors of `pools`. A worker tries a shard or makes a finding
smaller (`tasks`), and returns `Counts`. `findings` makes a finding of a hit, `record` writes it when it is seen, and
`corpus` keeps it for the next run.
"""
