"""Validation of pods and of the workloads that create them."""
