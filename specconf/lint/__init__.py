"""Linting deploy files: which files, which launches in them, at which release, and what is wrong with each."""
