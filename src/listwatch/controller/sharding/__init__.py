"""Connects the shards of a replica to the controllers of its manager: caches, keys, reports."""
