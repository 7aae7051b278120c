"""A client talks to one API server: it finds it, proves who it is, sends requests and reads the answers."""
