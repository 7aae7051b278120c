"""Authentication, authorization and certificates."""
