"""Many trials within a budget, on one machine or many: what is tried next, and what is written."""
