"""Commands that start an embedded API server."""
