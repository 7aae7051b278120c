"""Benchmarks of etcd as a source."""
