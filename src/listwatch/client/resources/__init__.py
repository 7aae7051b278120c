"""Clients for resources: typed, dynamic and metadata."""
