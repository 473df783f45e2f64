"""Reading vLLM's options out of a release's published source tree, by its syntax alone.

Nothing of the engine is imported or run: the functions that build its argument parser are interpreted symbolically.
"""
