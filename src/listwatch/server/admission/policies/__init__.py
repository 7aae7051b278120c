"""Admission policies: their expressions, rules, mutations and type checks."""
