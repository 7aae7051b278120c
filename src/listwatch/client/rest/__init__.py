"""Requests and responses: building, sending, retrying, streaming."""
