"""Write the published JSON Schemas; a test holds them equal to the code."""

from __future__ import annotations

from pathlib import Path

from specconf.schemas import write_schemas

if __name__ == "__main__":
    write_schemas(Path(__file__).resolve().parent.parent / "schemas")
