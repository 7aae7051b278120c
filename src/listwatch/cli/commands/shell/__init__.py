"""Commands for the shell: completion."""
