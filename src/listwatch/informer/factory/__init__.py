"""The factory: one shared informer per kind, and its typed attributes."""
