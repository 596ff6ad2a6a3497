"""Findings and known issues, and the reports about them.

`records` has the types of a run, a finding, a cause and a difference, which are JSON in files. `run_folder` writes and
reads the folder of a run. `known` reads the known issues. `verdict` summarizes a run, and `documents` writes its
reports.
"""

if __name__ == "reports":
    raise ImportError("this is `clonediff.reports`: by a second name, each of its modules would be there twice")
