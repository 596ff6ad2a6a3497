"""What was found and how it is shown: records, known issues, reports."""

if __name__ == "reports":
    raise ImportError("this is `clonediff.reports`: by a second name, each of its modules would be there twice")
