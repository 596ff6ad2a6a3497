"""What was found, and how it is shown.

`records` are the types of a run, a finding, a cause and a difference, which are written as JSON. `run_folder` writes
them, `reading` reads them. `known` are the known issues, a script each. `verdict` says what a run comes to, and
`documents` show it.
"""

if __name__ == "reports":
    raise ImportError("this is `clonediff.reports`: by a second name, each of its modules would be there twice")
