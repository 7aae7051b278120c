"""Recordings of what clients receive: written by a client with `record=`, played by the embedded server."""
