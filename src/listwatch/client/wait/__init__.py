"""Waiting for objects and events; retries on conflict."""
