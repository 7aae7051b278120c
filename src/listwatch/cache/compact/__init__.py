"""The form of cached objects at rest: compressed with a dictionary of their kind, in memory or in a file."""
