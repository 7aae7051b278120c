"""The sharding protocol as pure state machines: sessions, shards, assignment, and the Leases as values."""
