"""Admission that is configured by objects: policies."""
