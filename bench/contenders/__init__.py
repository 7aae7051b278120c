"""The field: one module for each library, which runs in an environment of its own and imports nothing but it."""
