from tests.lint.boxes import boxes

__all__ = ["boxes"]
