"""The command line: one thin module per command, imported on use."""
