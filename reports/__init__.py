"""Findings and known issues, and the reports about them.

`records` has the types of a run, a finding, a cause and a difference, and reads and writes them as JSON. `run_folder`
writes and reads the folder of a run. `known` reads the known issues. `verdict` summarizes a run, and `documents` writes
its reports.
"""

if __name__ == "reports":
    raise ImportError("import it as `clonediff.reports`: under a second name, each module would be loaded twice")
