"""Packs the objects of a store in the background: compresses them, and writes them to a file."""
