"""What was found and how it is shown: records, known issues, reports."""
