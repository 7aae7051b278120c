"""Benchmarks of listwatch beside comparable libraries. `make bench` runs them."""
