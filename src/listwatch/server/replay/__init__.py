"""Plays recordings back: records → timeline → states of resources → the watches and lists of clients."""
