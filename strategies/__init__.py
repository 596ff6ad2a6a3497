"""What to try: programs, the catalogue of kinds, and how a program is drawn and becomes the source of a model.

Nothing here imports Keras: it is handed in. The child of a subject imports this package, too.
"""
