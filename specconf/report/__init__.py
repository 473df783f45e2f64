"""Findings as text or JSON. One output format, one module."""
