"""Benchmarks of the embedded API server."""
