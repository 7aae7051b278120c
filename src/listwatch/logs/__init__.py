"""Logging: reports of repeated failures, and the log of a program that has set up none."""
