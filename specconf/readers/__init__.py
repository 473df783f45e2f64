"""Readers: deploy files → launches as words. A format finds them; one shell reader turns text into words."""

from specconf.readers.registry import FORMATS, Format, ReadLaunch, read_launches

__all__ = ["FORMATS", "Format", "ReadLaunch", "read_launches"]
