"""One graph on one subject: its case, its trial, the checks, the verdict. The one place that tries anything."""
