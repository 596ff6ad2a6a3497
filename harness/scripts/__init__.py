"""Scripts of plain Keras that show a difference: how they are written, and how one is run alone."""
