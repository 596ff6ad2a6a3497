"""Many trials within a budget, on one machine or many: what is next, what is kept, what is told."""
