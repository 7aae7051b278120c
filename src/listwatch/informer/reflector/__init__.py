"""The source of an informer, and the reflector that lists and watches it."""
