"""Turns asynchronous classes into blocking ones. `generate_blocking.py` names the classes and writes the files."""
