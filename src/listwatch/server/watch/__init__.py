"""Watch streams."""
