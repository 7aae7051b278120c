"""The built-in types and resources."""
