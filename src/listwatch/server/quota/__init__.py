"""Resource quotas: what objects use, and which requests exceed a quota."""
