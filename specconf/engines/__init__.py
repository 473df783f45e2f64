"""Everything that knows one engine, one folder each, and what they share: argv grammar, lowering, lifting, emitting."""
