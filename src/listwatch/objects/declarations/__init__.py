"""Declarations of classes: models, custom resources, and the check of their annotations."""
