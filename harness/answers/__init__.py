"""What a person asks about something at hand.

`targets` reads what was named: a known issue, a finding, a program, a corpus. `replay` says whether it still fails,
`repro` prints it, `check` and `in_process` compare a user's model with its clone, `audit` says which arguments a
config loses. `text` words the answers.
"""
