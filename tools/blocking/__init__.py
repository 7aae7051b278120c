"""Generates blocking classes from asynchronous ones. `generate_blocking.py` names the classes and writes the files."""
