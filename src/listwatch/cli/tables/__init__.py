"""Tables of objects: from the server, for an informer, of states and of events."""
