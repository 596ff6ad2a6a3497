"""How graphs are tried on Keras. What other projects use of it is in `clonediff` itself."""

if __name__ == "harness":
    raise ImportError("this is `clonediff.harness`: by a second name, each of its modules would be there twice")
