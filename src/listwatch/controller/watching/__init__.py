"""What a controller watches, and which keys a change concerns."""
