"""Informers of Kubernetes resources: one for each resource, shared by all parts of a program."""
