"""A finding, a graph or a known issue tried once more: is it fixed, still broken, changed?"""
