"""Benchmarks of work queues and controllers."""
