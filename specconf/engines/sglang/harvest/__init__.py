"""Harvesting SGLang's options from its published wheels, by reading syntax only: nothing of the engine is imported."""
