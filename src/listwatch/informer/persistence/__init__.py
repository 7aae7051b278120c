"""Keeps the store of an informer in a file, and restores it after a restart."""
