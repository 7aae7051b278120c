"""Manifests: YAML and JSON files with objects."""
