"""Calls reconcile functions: workers, the context of a call, own writes, and the shards of a replica."""
