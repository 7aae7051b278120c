"""The terminal and the standard streams of an interactive command."""
