"""Admission that is configured by objects: policies, webhooks, limits and classes."""
