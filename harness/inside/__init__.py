"""What runs beside Keras: build a model from source, clone it, observe it, answer.

Owns everything that happens in the process of the Keras under test. Imported as `clonediff.harness.inside` by
a downstream project and as top-level `inside` by a subject's child process, where nothing else of this project is
importable: standard library, NumPy and that Keras only, relative imports only.
"""
