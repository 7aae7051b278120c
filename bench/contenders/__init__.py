"""One module per library. Each runs in its own environment and imports no other library."""
