"""A leader is the one replica of many that acts: the one that holds the lease, until it fails to renew it."""
