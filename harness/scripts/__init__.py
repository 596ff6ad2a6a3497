"""Scripts of plain Keras that show a difference.

`reproducer` writes the script of a cause: the source of the model, the call that clones it, and a comparison that
fails, which `comparisons` chooses.
`runner` runs a script in a process that cannot import clonediff, and checks its exception.
`known_scripts` parses the scripts of `reports/known`.
"""
