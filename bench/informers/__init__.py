"""Benchmarks of informers."""
