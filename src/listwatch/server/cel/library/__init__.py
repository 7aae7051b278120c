"""The functions of expressions."""
