"""Controllers inside the server: garbage collection, namespaces, custom resources."""
