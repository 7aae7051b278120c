"""Verbs and subresources: from a request to a response."""
