"""Listening for HTTP connections, and the exchange of a request and its response."""
