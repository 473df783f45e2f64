"""Rules: conditions in three-valued logic, the checker, the effective configuration."""
