"""The CLI is the `listwatch` command: look at objects, watch them, and serve them, from a shell."""
