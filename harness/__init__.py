"""How graphs are tried on Keras. What other projects use of it is in `clonediff` itself."""

if __name__ == "harness":
    raise ImportError("import `clonediff.harness`: under a second name, each of its modules would be loaded twice")
