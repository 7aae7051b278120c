"""The fields that the server sets on objects, and how objects are stored and deleted."""
