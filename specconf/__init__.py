"""specconf: one speculative-decoding spec, checked against every engine release and compiled to exact launches."""

__version__ = "0.1.0"
