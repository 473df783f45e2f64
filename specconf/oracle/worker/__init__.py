"""The code that runs inside an engine's environment: the standard library, and what the engine itself brings."""
