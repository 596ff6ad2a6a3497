"""Scripts of plain Keras that show a difference.

`reproducer` writes the script of a cause: the model's source, its clone, and a line of `comparisons` that fails.
`alone` runs a script in a process that cannot import clonediff, and says whether it fails as the cause does.
`known_scripts` reads those of `reports/known`.
"""
