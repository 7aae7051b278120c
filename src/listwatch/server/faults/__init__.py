"""Fault injection and the request log."""
