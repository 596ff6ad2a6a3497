"""Tries graphs on Keras. The package `clonediff` exports what other projects use."""

if __name__ == "harness":
    raise ImportError("import it as `clonediff.harness`: under a second name, each module would be loaded twice")
