"""The `listwatch` command."""
