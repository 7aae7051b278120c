"""What the server sets on an object when it is created, updated and deleted."""
