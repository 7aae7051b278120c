"""Soak tests under injected faults: `make soak`, or `python -m soak informers`. The tests run them for a few seconds.

Each round ends with checks: caches equal a fresh list, every handler received a valid history, and nothing leaked.
"""
