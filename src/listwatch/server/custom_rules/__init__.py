"""Validation rules of custom resources: `x-kubernetes-validations`."""
