"""The cluster of a command: its options, clients and objects, and completion with their names."""
