"""The `listwatch` command: `app.py` finds the command, `commands/` has a module for each one."""
