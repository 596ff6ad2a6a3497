"""Many trials within a budget, on one machine or on a cluster.

`campaign` cuts the budget into shards, a seed and a count each, and hands them to the executors of `pools`. A worker
tries a shard or makes a finding smaller (`tasks`) and returns `Counts`. `record` adds them up and writes each finding
when it is seen, with the picture of its models (`findings`). `corpus` keeps findings for the next run.
"""
