"""The Pod Security Standards: the levels of namespaces, their checks, and the admission plugin."""
