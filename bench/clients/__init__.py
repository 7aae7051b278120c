"""Benchmarks of clients without an informer."""
