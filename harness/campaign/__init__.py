"""Runs many trials within a budget, on one machine or on a cluster.

`campaign` gives tasks to the workers in `pools`. `tasks` has the work of a task: to try a
shard, or to reduce a finding. `record` writes each finding immediately, and `corpus`
stores its graph for the next run.
"""
